#include <mezzo/data/image/decode.hpp>

#include "fuzz.hpp"
#include "pictures.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  Bytes webp{'R', 'I', 'F', 'F'};  // always, so that no input is a file of another format
  webp.insert(webp.end(), bytes.begin(), bytes.end());
  touch(mezzo::image::decode_image(webp, "input", {.max_pixels = 1 << 16}));
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() { return recorded_pictures("webp", 4); }
