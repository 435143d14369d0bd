#include <mezzo/data/image/decode.hpp>

#include "fuzz.hpp"
#include "support/jpeg.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  Bytes jpeg{0xff, 0xd8, 0xff};  // always, so that no input is a PNG file
  jpeg.insert(jpeg.end(), bytes.begin(), bytes.end());
  // Fewer pixels than by default: decoding up to 500 scans of many takes seconds.
  touch(mezzo::image::decode_image(jpeg, "input", {.max_pixels = 1 << 16}));
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  mezzo::Tensor picture({9, 17, 3}, mezzo::DType::uint8);
  for (std::int64_t i = 0; i < picture.size(); ++i) {
    picture.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 7);
  }
  std::vector<Bytes> out;
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    const Bytes jpeg = mezzo_tests::jpeg(picture, flags);
    out.emplace_back(jpeg.begin() + 3, jpeg.end());
  }
  return out;
}
