#include <mezzo/io/npz.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"

namespace {

mezzo_fuzz::Bytes from_hex(const std::string& digits) {
  mezzo_fuzz::Bytes bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  for (const auto& [name, tensor] : mezzo::load_npz(file_of(bytes))) touch(tensor);
}

std::vector<Bytes> seeds() {
  const mezzo_tests::Folder folder;
  mezzo::save_npz(folder.path("a.npz"), {{"x", mezzo::Tensor({2, 3})}, {"y", mezzo::Tensor({0}, mezzo::DType::int8)}});
  std::vector<Bytes> out{content_of(folder.path("a.npz"))};
  for (const char* name : {"mixed", "zip64", "streamed", "deflated"}) {
    out.push_back(from_hex(mezzo_tests::recorded("npy").at("archives").at(name).at("file")));
  }
  return out;
}

const Target target("npz", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
