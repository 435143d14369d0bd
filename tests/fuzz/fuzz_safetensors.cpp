#include <mezzo/io/safetensors.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"
#include "support/safetensors.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const mezzo::SafetensorsFile file(file_of(bytes));
  for (const auto& entry : file.entries()) touch(file.read(entry.name));
}

std::vector<Bytes> seeds() {
  using mezzo_tests::safetensors_bytes;
  using mezzo_tests::tensor;
  const mezzo_tests::Folder folder;
  mezzo::save_safetensors(folder.path("a"),
                          {{"w", mezzo::Tensor({2, 3})},
                           {"b", mezzo::Tensor({3}, mezzo::DType::boolean)},
                           {"e", mezzo::Tensor({0, 2}, mezzo::DType::bfloat16)}},
                          {{"format", "pt"}});
  const std::string tensors = tensor("w", "F32", "[1,2]", "[0,8]") + "," + tensor("i\\u00e9", "I64", "[1]", "[8,16]");
  return {content_of(folder.path("a")), safetensors_bytes("{" + tensors + "}", 16),
          safetensors_bytes("{\"__metadata__\":{\"format\":\"pt\"}," + tensors + "}  ", 16), safetensors_bytes("{}")};
}

const Target target("safetensors", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
