#include <mezzo/data/image/crop.hpp>

#include <cstring>

#include <mezzo/data/image/check.hpp>

namespace mezzo::image {
namespace {

/// True if [begin, begin + length) is not empty and lies in [0, size).
bool lies_in(std::int64_t begin, std::int64_t length, std::int64_t size) {
  return begin >= 0 && length >= 1 && begin <= size && length <= size - begin;
}

/// border / 2, rounded to even.
std::int64_t half_to_even(std::int64_t border) {
  const std::int64_t down = border / 2;
  return border % 2 == 1 && down % 2 == 1 ? down + 1 : down;
}

}  // namespace

Tensor crop(const Tensor& image, const CropOptions& options) {
  detail::check_image(image, "[crop]");
  const Shape& in = image.shape();
  if (!lies_in(options.top, options.height, in[0]) || !lies_in(options.left, options.width, in[1])) {
    fail<ValueError>("[crop]", "the part must lie in the image of shape {}; got top {}, left {}, height {}, width {}",
                     in, options.top, options.left, options.height, options.width);
  }
  Tensor out = Tensor::uninitialized({options.height, options.width, in[2]}, DType::uint8);
  const auto* from = image.data<std::uint8_t>() + (options.top * in[1] + options.left) * in[2];
  auto* to = out.mutable_data<std::uint8_t>();
  const auto row = static_cast<std::size_t>(options.width * in[2]);
  for (std::int64_t y = 0; y < options.height; ++y, from += in[1] * in[2], to += row) std::memcpy(to, from, row);
  return out;
}

Tensor center_crop(const Tensor& image, const CropSizeOptions& options) {
  detail::check_image(image, "[center_crop]");
  const Shape& in = image.shape();
  detail::check_fits(image, options.height, options.width, "[center_crop]");
  return crop(image, {.top = half_to_even(in[0] - options.height),
                      .left = half_to_even(in[1] - options.width),
                      .height = options.height,
                      .width = options.width});
}

Tensor horizontal_flip(const Tensor& image) {
  detail::check_image(image, "[horizontal_flip]");
  const Shape& in = image.shape();
  Tensor out = Tensor::uninitialized(in, DType::uint8);
  const auto* from = image.data<std::uint8_t>();
  auto* row = out.mutable_data<std::uint8_t>();
  for (std::int64_t y = 0; y < in[0]; ++y, row += in[1] * in[2]) {
    for (std::int64_t x = in[1]; x-- > 0; from += in[2]) {
      std::memcpy(row + x * in[2], from, static_cast<std::size_t>(in[2]));
    }
  }
  return out;
}

}  // namespace mezzo::image
