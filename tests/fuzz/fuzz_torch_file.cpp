#include <mezzo/io/torch_file.hpp>

#include "fuzz.hpp"
#include "support/paths.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const mezzo::TorchFile file(file_of(bytes));
  for (const std::string& name : file.names()) touch(file.read(name));
}

std::vector<Bytes> seeds() {
  const auto folder = mezzo_tests::tests_dir() / "parity" / "recorded" / "tensor_files";
  std::vector<Bytes> out;
  for (const char* name : {"one_tensor.pt", "wrapped.pt", "protocol_4.pt", "tensors.pt", "deflated.pt", "complex.pt"}) {
    out.push_back(content_of((folder / name).string()));
  }
  return out;
}

const Target target("torch_file", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
