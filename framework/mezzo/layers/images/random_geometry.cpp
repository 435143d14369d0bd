#include <mezzo/layers/images/random_geometry.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/augment.hpp>
#include <mezzo/data/image/colors.hpp>
#include <mezzo/data/image/interpolate.hpp>
#include <mezzo/data/image/pixels.hpp>
#include <mezzo/layers/images/image_words.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

using detail::words_of;
using image::SampleKey;
using image::detail::Sampling;
using Bounds = std::pair<double, double>;

/// A part of an image, resized unless it has the size.
Tensor resized_part(const Tensor& x, std::int64_t top, std::int64_t left, const Shape& part, const Shape& size) {
  const Tensor found = image::detail::part_of(x, top, left, part[0], part[1]);
  if (found.shape()[0] == size[0] && found.shape()[1] == size[1]) return found;
  const Tensor wide = image::detail::interpolate(found, size[0], size[1], "bilinear");
  return x.dtype() == DType::float64 ? wide.cast(x.dtype()) : wide;
}

/// Largest part of `shape` with the proportions of `size`, as keras.layers.RandomCrop computes it.
Shape largest_part(const Shape& shape, const Shape& size) {
  const auto scaled = [](std::int64_t other, std::int64_t to, std::int64_t from) {
    return static_cast<std::int64_t>(static_cast<double>(other * to) / static_cast<double>(from));
  };
  return {std::clamp<std::int64_t>(scaled(shape[1], size[0], size[1]), 1, shape[0]),
          std::clamp<std::int64_t>(scaled(shape[0], size[1], size[0]), 1, shape[1])};
}

Sampling checked_places(const std::string& where, const std::string& fill_mode, const std::string& interpolation,
                        double fill_value) {
  image::detail::check_sampling({"reflect", interpolation, fill_value}, where);
  for (const char* valid : {"constant", "mirror", "nearest", "reflect", "wrap"}) {
    if (fill_mode == valid) return {fill_mode, interpolation, fill_value};
  }
  fail_unknown(where, "fill_mode", fill_mode, {"constant", "mirror", "nearest", "reflect", "wrap"});
}

/// Begin and end of a random interval of this share of a size, as keras.layers.RandomErasing draws it.
Bounds random_interval(std::int64_t size, double share, detail::RandomWords& words) {
  const double length = share * static_cast<double>(size);
  const double begin = words.unit() * (static_cast<double>(size) - length);
  return {begin, begin + length};
}

/// Fills the pixels of a rectangle: `fill` has one number, one for each channel, or none for noise.
Tensor erased(const Tensor& x, const Bounds& across, const Bounds& down, const std::vector<double>& fill,
              const detail::PixelRange& range, detail::RandomWords& words) {
  const auto whole = [](double place) { return static_cast<std::int64_t>(std::ceil(place)); };
  return image::detail::of_type(x, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t columns = x.shape()[1], channels = x.shape()[2];
    Tensor out = x.copy();
    for (std::int64_t i = whole(down.first); i < std::min(whole(down.second), x.shape()[0]); ++i) {
      for (std::int64_t k = whole(across.first); k < std::min(whole(across.second), columns); ++k) {
        T* const pixel = out.template mutable_data<T>() + (i * columns + k) * channels;
        for (std::int64_t c = 0; c < channels; ++c) {
          const double number =
              fill.empty() ? words.normal() * range.high : fill[fill.size() == 1 ? 0 : static_cast<std::size_t>(c)];
          pixel[c] = static_cast<T>(std::clamp(number, range.low, range.high));
        }
      }
    }
    return out;
  });
}

/// Smoothed normal noise for each pixel, times `gain`.
std::vector<double> smooth_noise(std::int64_t rows, std::int64_t columns, double sigma, double gain,
                                 detail::RandomWords& words) {
  Tensor noise({rows, columns, 1}, DType::float64);
  auto* const numbers = noise.mutable_data<double>();
  std::generate_n(numbers, noise.size(), [&] { return words.normal() * sigma; });
  const std::int64_t size = static_cast<std::int64_t>(6 * sigma) | 1;
  std::vector<double> out = image::detail::blurred(noise, {size, size}, {sigma, sigma}).to_doubles();
  for (double& number : out) number *= gain;
  return out;
}

}  // namespace

RandomCrop::RandomCrop(const RandomCropOptions& options) : detail::ImageAugmentation("RandomCrop", options) {
  detail::require_positive(label(), "height", options.height);
  detail::require_positive(label(), "width", options.width);
  const Shape size{options.height, options.width};
  set_size(size[0], size[1]);
  set_any_dtype();
  set_transform([size](const Tensor& x, const SampleKey& key) {
    const Shape& in = x.shape();
    if (in[0] > size[0] && in[1] > size[1]) {
      detail::RandomWords words = words_of("RandomCrop", key);
      const std::int64_t top = words.integer(0, in[0] - size[0] + 1), left = words.integer(0, in[1] - size[1] + 1);
      return image::detail::part_of(x, top, left, size[0], size[1]);
    }
    // Keras cuts the wanted size at the corner of the largest part, as far as the image reaches.
    const Shape part = largest_part(in, size);
    return resized_part(x, (in[0] - part[0]) / 2, (in[1] - part[1]) / 2, size, size);
  });
  set_inference([size](const Tensor& x, const SampleKey&) {
    const Shape part = largest_part(x.shape(), size);
    return resized_part(x, (x.shape()[0] - part[0]) / 2, (x.shape()[1] - part[1]) / 2, part, size);
  });
}

RandomErasing::RandomErasing(const RandomErasingOptions& options)
    : detail::ImageAugmentation("RandomErasing", options) {
  const Bounds factor = options.factor.bounds(label(), "factor", 0, 1);
  const Bounds scale = options.scale.bounds(label(), "scale", 0, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  const std::vector<double> fill = options.fill_value.numbers();
  const bool finite = std::all_of(fill.begin(), fill.end(), [](double x) { return std::isfinite(x); });
  if ((fill.size() > 1 && fill.size() != 3) || !finite) {
    fail<ValueError>(label(), "fill_value must be one number or three; got ({})", fmt::join(fill, ", "));
  }
  if (fill.size() == 3) set_channels({3});
  set_transform([factor, scale, range, fill](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomErasing", key);
    if (!detail::chosen(factor, words)) return x;
    const double width = std::sqrt(detail::within(scale, words)), height = std::sqrt(detail::within(scale, words));
    const Bounds across = random_interval(x.shape()[1], width, words);
    const Bounds down = random_interval(x.shape()[0], height, words);
    return erased(x, across, down, fill, range, words);
  });
}

RandomGaussianBlur::RandomGaussianBlur(const RandomGaussianBlurOptions& options)
    : detail::ImageAugmentation("RandomGaussianBlur", options) {
  const Bounds factor = options.factor.bounds(label(), "factor", 0, 1);
  const Bounds sigma = options.sigma.bounds(label(), "sigma", 0, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  const Shape size = options.kernel_size.pair(label(), "kernel_size");
  if (size[0] % 2 == 0 || size[1] % 2 == 0) {
    fail<ValueError>(label(), "kernel_size must be odd; got ({})", fmt::join(size, ", "));
  }
  set_transform([factor, sigma, range, size](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomGaussianBlur", key);
    const bool blur = detail::chosen(factor, words);
    const double across = detail::within(sigma, words) + 1e-6, down = detail::within(sigma, words) + 1e-6;
    const Tensor out = blur ? image::detail::blurred(x, {size[0], size[1]}, {across, down}) : x;
    return image::detail::cut(out, range.low, range.high);
  });
}

RandomShear::RandomShear(const RandomShearOptions& options) : detail::ImageAugmentation("RandomShear", options) {
  const Bounds across = detail::either_way(label(), "x_factor", options.x_factor);
  const Bounds down = detail::either_way(label(), "y_factor", options.y_factor);
  image::detail::check_sampling({options.fill_mode, options.interpolation, options.fill_value}, label());
  const Sampling sampling{options.fill_mode, options.interpolation, options.fill_value};
  set_transform([across, down, sampling](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomShear", key);
    const double way = words.unit() < 0.5 ? 1 : -1;
    const double y = way * detail::within(down, words), right = way * detail::within(across, words);
    return image::detail::transformed(x, {1, right, 0, y, 1, 0}, sampling);
  });
}

RandomPerspective::RandomPerspective(const RandomPerspectiveOptions& options)
    : detail::ImageAugmentation("RandomPerspective", options) {
  const Bounds factor = options.factor.bounds(label(), "factor", 0, 1);
  if (!(options.scale >= 0 && options.scale <= 1)) {
    fail<ValueError>(label(), "scale must be in [0, 1]; got {}", options.scale);
  }
  const Sampling sampling{"constant", options.interpolation, options.fill_value};
  image::detail::check_sampling(sampling, label());
  set_transform([factor, sampling, scale = options.scale](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomPerspective", key);
    if (!detail::chosen(factor, words)) return x;
    const auto right = static_cast<double>(x.shape()[1] - 1), bottom = static_cast<double>(x.shape()[0] - 1);
    const std::array<double, 8> start{0, 0, right, 0, 0, bottom, right, bottom};
    std::array<double, 8> end = start;
    for (double& place : end) place += place * detail::within({-scale / 2, scale / 2}, words);
    return image::detail::in_perspective(x, image::detail::perspective_of(start, end), sampling);
  });
}

RandomElasticTransform::RandomElasticTransform(const RandomElasticTransformOptions& options)
    : detail::ImageAugmentation("RandomElasticTransform", options) {
  const Bounds factor = options.factor.bounds(label(), "factor", 0, 1);
  const Bounds scale = options.scale.bounds(label(), "scale", 0, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  const Sampling sampling = checked_places(label(), options.fill_mode, options.interpolation, options.fill_value);
  set_transform([factor, scale, range, sampling](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomElasticTransform", key);
    if (!detail::chosen(factor, words)) return x;
    const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
    const double strength = detail::within(scale, words);
    const double alpha = 0.1 * strength * static_cast<double>(std::max(rows, columns));
    const double sigma = 0.05 * strength * static_cast<double>(std::min(rows, columns));
    if (sigma == 0) return x;
    const std::vector<double> dx = smooth_noise(rows, columns, sigma, alpha, words);
    const std::vector<double> dy = smooth_noise(rows, columns, sigma, alpha, words);
    return image::detail::cut(image::detail::displaced(x, dx, dy, sampling), range.low, range.high);
  });
}

}  // namespace mezzo
