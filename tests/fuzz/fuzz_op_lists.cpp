#include <mezzo/ops/op_lists.hpp>

#include "fuzz.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  mezzo::OpLists({.float32 = std::vector<std::string>{"softmax"}, .lower_file = file_of(bytes)});
}

std::vector<Bytes> seeds() {
  return {bytes_of("# products\n  linear  \n\ngelu # and this\r\ntopk\nadd"), bytes_of("matmul\nconv2d\nlayernorm\n")};
}

const Target target("op_lists", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
