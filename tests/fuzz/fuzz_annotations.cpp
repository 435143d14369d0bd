#include <mezzo/datasets/oxford_iiit_pet.hpp>

#include "fuzz.hpp"
#include "support/gzip.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  file_of(bytes);
  folder_with("annotations/test.txt");
  mezzo::datasets::oxford_iiit_pet({.root = folder_with("annotations/trainval.txt")});
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  const Bytes text = bytes_of("#Image CLASS-ID SPECIES BREED ID\nAbyssinian_1 1 1 1\r\nbeagle_2 5 2 4\n");
  return {text, mezzo_tests::gzip(text)};
}
