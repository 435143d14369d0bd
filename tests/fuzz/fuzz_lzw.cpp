#include <mezzo/datasets/bible_file.hpp>
#include <mezzo/datasets/bible_kjv.hpp>

#include "datasets/bible_data.hpp"
#include "fuzz.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  file_of(bytes);
  mezzo::datasets::bible_kjv({.root = folder_with("bible.data")});
}

std::vector<Bytes> seeds() {
  const std::string text = "Title\nGe1:1 In the beginning\nGe1:2 And the earth was\nRev22:21 The grace\n";
  return {mezzo_tests::bible_data(text, 32), mezzo_tests::bible_data(text, 100)};
}

const Target target("lzw", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
