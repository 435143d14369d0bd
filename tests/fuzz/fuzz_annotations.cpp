#include <mezzo/datasets/oxford_iiit_pet.hpp>

#include "fuzz.hpp"
#include "support/gzip.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  file_of(bytes);
  folder_with("annotations/test.txt");
  mezzo::datasets::oxford_iiit_pet({.root = folder_with("annotations/trainval.txt")});
}

std::vector<Bytes> seeds() {
  const Bytes text = bytes_of("#Image CLASS-ID SPECIES BREED ID\nAbyssinian_1 1 1 1\r\nbeagle_2 5 2 4\n");
  return {text, mezzo_tests::gzip(text)};
}

const Target target("annotations", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
