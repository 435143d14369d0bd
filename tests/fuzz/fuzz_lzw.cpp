#include <mezzo/datasets/bible_file.hpp>
#include <mezzo/datasets/bible_kjv.hpp>

#include "datasets/bible_data.hpp"
#include "fuzz.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  file_of(bytes);
  mezzo::datasets::bible_kjv({.root = folder_with("bible.data")});
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  const std::string text = "Title\nGe1:1 In the beginning\nGe1:2 And the earth was\nRev22:21 The grace\n";
  return {mezzo_tests::bible_data(text, 32), mezzo_tests::bible_data(text, 100)};
}
