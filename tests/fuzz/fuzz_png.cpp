#include <zlib.h>

#include <mezzo/core/error.hpp>
#include <mezzo/data/image/decode.hpp>

#include "fuzz.hpp"
#include "pictures.hpp"

namespace {

constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

// Writes the right checksum at the end of each chunk: length, type, data, CRC-32 of type and data.
void mend_checksums(mezzo_fuzz::Bytes& png) {
  std::size_t at = sizeof signature;
  while (png.size() - at >= 12) {
    const std::size_t length = mezzo::detail::big_endian(png.data() + at);
    if (length > png.size() - at - 12) return;
    const auto sum = static_cast<std::uint32_t>(crc32(0, png.data() + at + 4, static_cast<uInt>(length + 4)));
    at += 12 + length;
    for (std::size_t i = 0; i < 4; ++i) png[at - 4 + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
  }
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  Bytes png(std::begin(signature), std::end(signature));  // always, so that no input is a JPEG file
  png.insert(png.end(), bytes.begin(), bytes.end());
  try {
    touch(mezzo::image::decode_image(png, "input"));
  } catch (const mezzo::FileError&) {
    mend_checksums(png);
    touch(mezzo::image::decode_image(png, "input"));
  }
}

std::vector<Bytes> seeds() { return recorded_pictures("png", sizeof signature); }

const Target target("png", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
