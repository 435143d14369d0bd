#include <mezzo/data/image/decode.hpp>

#include "fuzz.hpp"
#include "pictures.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  Bytes webp{'R', 'I', 'F', 'F'};  // always, so that no input is a file of another format
  webp.insert(webp.end(), bytes.begin(), bytes.end());
  touch(mezzo::image::decode_image(webp, "input", {.max_pixels = 1 << 16}));
}

std::vector<Bytes> seeds() { return recorded_pictures("webp", 4); }

const Target target("webp", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
