#include <mezzo/data/image/decode.hpp>

#include "fuzz.hpp"
#include "pictures.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  Bytes jpeg{0xff, 0xd8, 0xff};  // always, so that no input is a PNG file
  jpeg.insert(jpeg.end(), bytes.begin(), bytes.end());
  // Fewer pixels than by default: decoding up to 500 scans of many takes seconds.
  touch(mezzo::image::decode_image(jpeg, "input", {.max_pixels = 1 << 16}));
}

std::vector<Bytes> seeds() { return recorded_pictures("jpeg", 3); }

const Target target("jpeg", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
