#include <mezzo/data/image/resize.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include <mezzo/data/image/check.hpp>

namespace mezzo::image {
namespace {

// Method, fixed point of 22 bits and rounding of Pillow's src/libImaging/Resample.c.
constexpr int precision_bits = 32 - 8 - 2;

struct Filter {
  double support;  // radius, in input pixels
  double (*weight)(double);
};

double bilinear(double x) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// Input pixels of one output pixel, with their weights in fixed point.
struct Window {
  std::int64_t begin = 0;  // first input pixel
  std::vector<std::int32_t> weights{};
};

std::int64_t half_up(double x) { return static_cast<std::int64_t>(std::floor(x + 0.5)); }

std::vector<Window> windows(const Filter& filter, std::int64_t in, std::int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double widening = std::max(scale, 1.0);
  const double support = filter.support * widening;
  const double inverse = 1.0 / widening;
  std::vector<Window> found(static_cast<std::size_t>(out));
  std::vector<double> weights;
  for (std::int64_t i = 0; i < out; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const std::int64_t begin = std::max<std::int64_t>(0, half_up(center - support));
    const std::int64_t end = std::min(in, half_up(center + support));
    weights.clear();
    double sum = 0;
    for (std::int64_t x = 0; x < end - begin; ++x) {
      weights.push_back(filter.weight((static_cast<double>(x + begin) - center + 0.5) * inverse));
      sum += weights.back();
    }
    Window& window = found[static_cast<std::size_t>(i)];
    window.begin = begin;
    for (const double weight : weights) {
      const double fixed = (sum != 0 ? weight / sum : weight) * (1 << precision_bits);
      window.weights.push_back(static_cast<std::int32_t>(fixed < 0 ? fixed - 0.5 : fixed + 0.5));
    }
  }
  return found;
}

std::uint8_t rounded(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> precision_bits, 0, 255)); }

/// resample() of pixels of `channels` bytes: sums stay in registers.
template <std::size_t channels>
void resample_pixels(const std::uint8_t* from, std::int64_t outer, std::int64_t in, const std::vector<Window>& at,
                     std::uint8_t* to) {
  for (std::int64_t o = 0; o < outer; ++o, from += in * static_cast<std::int64_t>(channels)) {
    for (const Window& window : at) {
      std::array<std::int32_t, channels> sums{};
      sums.fill(1 << (precision_bits - 1));
      const std::uint8_t* pixel = from + window.begin * static_cast<std::int64_t>(channels);
      for (const std::int32_t weight : window.weights) {
        for (std::size_t c = 0; c < channels; ++c) sums[c] += pixel[c] * weight;
        pixel += channels;
      }
      to = std::transform(sums.begin(), sums.end(), to, rounded);
    }
  }
}

/// Resamples axis 1 of an array of shape (outer, in, inner).
void resample(const std::uint8_t* from, std::int64_t outer, std::int64_t in, std::int64_t inner,
              const std::vector<Window>& at, std::uint8_t* to) {
  if (inner == 1) return resample_pixels<1>(from, outer, in, at, to);
  if (inner == 3) return resample_pixels<3>(from, outer, in, at, to);
  std::vector<std::int32_t> sums(static_cast<std::size_t>(inner));
  for (std::int64_t o = 0; o < outer; ++o, from += in * inner) {
    for (const Window& window : at) {
      std::fill(sums.begin(), sums.end(), 1 << (precision_bits - 1));
      const std::uint8_t* line = from + window.begin * inner;
      for (const std::int32_t weight : window.weights) {
        for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += line[c] * weight;
        line += inner;
      }
      to = std::transform(sums.begin(), sums.end(), to, rounded);
    }
  }
}

Tensor convolve(const Tensor& image, const Filter& filter, std::int64_t height, std::int64_t width) {
  const Shape& in = image.shape();
  Tensor narrow = image;
  if (width != in[1]) {
    narrow = Tensor::uninitialized({in[0], width, in[2]}, DType::uint8);
    resample(image.data<std::uint8_t>(), in[0], in[1], in[2], windows(filter, in[1], width),
             narrow.mutable_data<std::uint8_t>());
  }
  if (height == in[0]) return narrow;
  Tensor out = Tensor::uninitialized({height, width, in[2]}, DType::uint8);
  resample(narrow.data<std::uint8_t>(), 1, in[0], width * in[2], windows(filter, in[0], height),
           out.mutable_data<std::uint8_t>());
  return out;
}

/// Input pixel of each output pixel. Adds up the step as Pillow does: a product would round differently.
std::vector<std::int64_t> nearest_places(std::int64_t in, std::int64_t out) {
  const double step = static_cast<double>(in) / static_cast<double>(out);
  std::vector<std::int64_t> places;
  double at = step * 0.5;
  for (std::int64_t i = 0; i < out; ++i, at += step) places.push_back(std::min(static_cast<std::int64_t>(at), in - 1));
  return places;
}

Tensor pick_nearest(const Tensor& image, std::int64_t height, std::int64_t width) {
  const Shape& in = image.shape();
  Tensor out = Tensor::uninitialized({height, width, in[2]}, DType::uint8);
  const auto* from = image.data<std::uint8_t>();
  auto* to = out.mutable_data<std::uint8_t>();
  const std::vector<std::int64_t> columns = nearest_places(in[1], width);
  for (const std::int64_t y : nearest_places(in[0], height)) {
    for (const std::int64_t x : columns) {
      std::memcpy(to, from + (y * in[1] + x) * in[2], static_cast<std::size_t>(in[2]));
      to += in[2];
    }
  }
  return out;
}

}  // namespace

Tensor resize(const Tensor& image, const ResizeOptions& options) {
  detail::check_image(image, "[resize]");
  constexpr std::int64_t largest = 1 << 20;
  for (const std::int64_t size : {options.height, options.width}) {
    if (size < 1 || size > largest) {
      fail<ValueError>("[resize]", "height and width must lie in [1, {}]; got {} and {}", largest, options.height,
                       options.width);
    }
  }
  if (options.interpolation == "nearest") return pick_nearest(image, options.height, options.width);
  if (options.interpolation == "bilinear") return convolve(image, {1, bilinear}, options.height, options.width);
  if (options.interpolation == "bicubic") return convolve(image, {2, bicubic}, options.height, options.width);
  fail<ValueError>("[resize]", "unknown interpolation \"{}\"; valid names: bilinear, bicubic, nearest",
                   options.interpolation);
}

Tensor resize_shorter_side(const Tensor& image, std::int64_t size, const std::string& interpolation) {
  detail::check_image(image, "[resize_shorter_side]");
  const std::int64_t height = image.shape()[0];
  const std::int64_t width = image.shape()[1];
  const std::int64_t longer = size * std::max(height, width) / std::min(height, width);
  return height <= width ? resize(image, {.height = size, .width = longer, .interpolation = interpolation})
                         : resize(image, {.height = longer, .width = size, .interpolation = interpolation});
}

}  // namespace mezzo::image
