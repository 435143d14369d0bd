#include <mezzo/data/image/decode.hpp>
#include <mezzo/data/image/encode.hpp>

#include "fuzz.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  Bytes png{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};  // always, so that no input is a JPEG file
  png.insert(png.end(), bytes.begin(), bytes.end());
  touch(mezzo::image::decode_image(png, "input"));
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  std::vector<Bytes> out;
  for (const std::int64_t channels : {1, 3}) {
    const Bytes png = mezzo::image::encode_png(mezzo::Tensor({5, 7, channels}, mezzo::DType::uint8));
    out.emplace_back(png.begin() + 8, png.end());
  }
  return out;
}
