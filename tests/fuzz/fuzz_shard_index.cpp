#include <mezzo/io/safetensors.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  static const mezzo_tests::Folder folder;
  static const bool written = [] {
    mezzo::save_safetensors(folder.path("a"), {{"x", mezzo::Tensor({2, 3})}});
    return true;
  }();
  if (!written) return;
  const mezzo::SafetensorsFile file(folder.write("b.index.json", bytes));
  for (const std::string& name : file.names()) touch(file.read(name));
}

std::vector<Bytes> seeds() {
  return {bytes_of(R"({"metadata": {"total_size": 24}, "weight_map": {"x": "a"}})"),
          bytes_of(R"({"weight_map": {"x": "a", "y": "b.safetensors", "z": "../a"}})"),
          bytes_of(R"({"weight_map": {}})")};
}

const Target target("shard_index", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
