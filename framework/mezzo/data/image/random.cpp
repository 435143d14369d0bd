#include <mezzo/data/image/random.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/data/image/check.hpp>
#include <mezzo/data/image/draws.hpp>
#include <mezzo/data/image/resize.hpp>

namespace mezzo::image {
namespace {

using detail::between;
using detail::Draws;

/// Maps a number in [0, 1) to an integer in [0, count).
std::int64_t below(std::int64_t count, double unit) {
  return std::min(count - 1, static_cast<std::int64_t>(unit * static_cast<double>(count)));
}

void check_bounds(const char* name, double low, double high, double most) {
  if (low > 0 && low <= high && high <= most) return;
  fail<ValueError>("[random_resized_crop]", "min_{0} and max_{0} must be above 0 and in order{1}; got {2} and {3}",
                   name, std::isfinite(most) ? ", at most 1" : "", low, high);
}

/// Draws the rectangle of torchvision's RandomResizedCrop.
CropOptions random_part(const Shape& in, const RandomResizedCropOptions& options, Draws draws) {
  const auto height = static_cast<double>(in[0]);
  const auto width = static_cast<double>(in[1]);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto [scale, ratio] = draws.next();
    const auto [down, right] = draws.next();
    const double area = height * width * between(options.min_scale, options.max_scale, scale);
    const double aspect = std::exp(between(std::log(options.min_ratio), std::log(options.max_ratio), ratio));
    const std::int64_t w = std::llrint(std::sqrt(area * aspect));
    const std::int64_t h = std::llrint(std::sqrt(area / aspect));
    if (w < 1 || h < 1 || w > in[1] || h > in[0]) continue;
    return {.top = below(in[0] - h + 1, down), .left = below(in[1] - w + 1, right), .height = h, .width = w};
  }
  double w = width;
  double h = height;
  if (width / height < options.min_ratio) h = width / options.min_ratio;
  if (width / height > options.max_ratio) w = height * options.max_ratio;
  const std::int64_t part_height = std::max<std::int64_t>(1, std::llrint(h));
  const std::int64_t part_width = std::max<std::int64_t>(1, std::llrint(w));
  return {
      .top = (in[0] - part_height) / 2, .left = (in[1] - part_width) / 2, .height = part_height, .width = part_width};
}

}  // namespace

Tensor random_crop(const Tensor& image, const CropSizeOptions& options, const SampleKey& key) {
  detail::check_image(image, "[random_crop]");
  const Shape& in = image.shape();
  detail::check_fits(image, options.height, options.width, "[random_crop]");
  const auto [down, right] = Draws("random_crop", key).next();
  return crop(image, {.top = below(in[0] - options.height + 1, down),
                      .left = below(in[1] - options.width + 1, right),
                      .height = options.height,
                      .width = options.width});
}

Tensor random_horizontal_flip(const Tensor& image, const RandomFlipOptions& options, const SampleKey& key) {
  detail::check_image(image, "[random_horizontal_flip]");
  if (!(options.probability >= 0 && options.probability <= 1)) {
    fail<ValueError>("[random_horizontal_flip]", "probability must lie in [0, 1]; got {}", options.probability);
  }
  return Draws("random_horizontal_flip", key).next().first < options.probability ? horizontal_flip(image) : image;
}

Tensor random_resized_crop(const Tensor& image, const RandomResizedCropOptions& options, const SampleKey& key) {
  detail::check_image(image, "[random_resized_crop]");
  check_bounds("scale", options.min_scale, options.max_scale, 1);
  check_bounds("ratio", options.min_ratio, options.max_ratio, HUGE_VAL);
  const Tensor part = crop(image, random_part(image.shape(), options, Draws("random_resized_crop", key)));
  return resize(part, {.height = options.height, .width = options.width, .interpolation = options.interpolation});
}

}  // namespace mezzo::image
