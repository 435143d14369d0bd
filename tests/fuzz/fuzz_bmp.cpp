#include <mezzo/data/image/decode.hpp>

#include "fuzz.hpp"
#include "pictures.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  Bytes bmp{'B', 'M'};  // always, so that no input is a file of another format
  bmp.insert(bmp.end(), bytes.begin(), bytes.end());
  touch(mezzo::image::decode_image(bmp, "input", {.max_pixels = 1 << 20}));
}

std::vector<Bytes> seeds() { return recorded_pictures("bmp", 2); }

const Target target("bmp", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
