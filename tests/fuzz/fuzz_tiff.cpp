#include <mezzo/data/image/decode.hpp>

#include "fuzz.hpp"
#include "pictures.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  // The first byte chooses the dtype.
  const bool deep = !bytes.empty() && bytes[0] == 'M';
  touch(mezzo::image::decode_image(bytes, "input",
                                   {.max_pixels = 1 << 16, .dtype = deep ? mezzo::DType::int32 : mezzo::DType::uint8}));
}

std::vector<Bytes> seeds() { return recorded_pictures("tiff", 0); }

const Target target("tiff", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
