#include <mezzo/ops/op_lists.hpp>

#include "fuzz.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  mezzo::OpLists({.float32 = std::vector<std::string>{"softmax"}, .lower_file = file_of(bytes)});
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  return {bytes_of("# products\n  linear  \n\ngelu # and this\r\ntopk\nadd"), bytes_of("matmul\nconv2d\nlayernorm\n")};
}
