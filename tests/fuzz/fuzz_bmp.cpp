#include <mezzo/data/image/decode.hpp>

#include "fuzz.hpp"
#include "pictures.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  Bytes bmp{'B', 'M'};  // always, so that no input is a file of another format
  bmp.insert(bmp.end(), bytes.begin(), bytes.end());
  touch(mezzo::image::decode_image(bmp, "input", {.max_pixels = 1 << 20}));
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() { return recorded_pictures("bmp", 2); }
