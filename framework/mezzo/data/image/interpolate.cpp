#include <mezzo/data/image/interpolate.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::image::detail {
namespace {

/// Weights of the elements [first, first + weights.size()) of an axis.
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weights;
};

double sinc(double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); }

/// Weight of an element at distance x >= 0.
double kernel_of(const std::string& name, double x) {
  if (name == "bilinear") return std::max(0.0, 1 - x);
  if (name == "bicubic") {  // Keys, 1981, a = -0.5
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
  }
  const double radius = name == "lanczos3" ? 3 : 5;
  return x < radius ? sinc(x) * sinc(x / radius) : 0;
}

/// Taps of each of `count` results of an axis of `size` elements, with centers of pixels at halves.
std::vector<Taps> taps_of(const std::string& name, std::int64_t size, std::int64_t count) {
  const double scale = static_cast<double>(size) / static_cast<double>(count);
  const std::int64_t reach = name == "bilinear" ? 1 : name == "bicubic" ? 2 : name == "lanczos3" ? 3 : 5;
  std::vector<Taps> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    Taps& taps = all[static_cast<std::size_t>(i)];
    const double center = (static_cast<double>(i) + 0.5) * scale - 0.5;
    if (name == "nearest") {
      taps = {std::min(size - 1, static_cast<std::int64_t>(std::floor(center + 0.5))), {1.0F}};
      continue;
    }
    const auto middle = static_cast<std::int64_t>(std::floor(center));
    taps.first = std::clamp<std::int64_t>(middle - reach + 1, 0, size - 1);
    const std::int64_t last = std::clamp<std::int64_t>(middle + reach, 0, size - 1);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t k = taps.first; k <= last; ++k) {
      weights.push_back(kernel_of(name, std::abs(center - static_cast<double>(k))));
      sum += weights.back();
    }
    for (const double weight : weights) taps.weights.push_back(static_cast<float>(weight / sum));
  }
  return all;
}

}  // namespace

void check_interpolation(const std::string& interpolation, const std::string& where) {
  const auto valid = {"bicubic", "bilinear", "lanczos3", "lanczos5", "nearest"};
  for (const char* name : valid) {
    if (interpolation == name) return;
  }
  fail_unknown(where, "interpolation", interpolation, valid);
}

Tensor interpolate(const Tensor& image, std::int64_t height, std::int64_t width, const std::string& interpolation) {
  const Tensor given = image.cast(DType::float32);
  const std::int64_t rows = image.shape()[0], columns = image.shape()[1], channels = image.shape()[2];
  if (rows == height && columns == width) return given;
  const std::vector<Taps> across = taps_of(interpolation, columns, width), down = taps_of(interpolation, rows, height);
  Tensor wide = Tensor(Shape{rows, width, channels});
  const auto* from = given.data<float>();
  auto* to = wide.mutable_data<float>();
  for (std::int64_t y = 0; y < rows; ++y, from += columns * channels) {
    for (const Taps& taps : across) {
      const float* pixel = from + taps.first * channels;
      for (const float weight : taps.weights) {
        for (std::int64_t c = 0; c < channels; ++c) to[c] += weight * *pixel++;
      }
      to += channels;
    }
  }
  Tensor out = Tensor(Shape{height, width, channels});
  auto* row = out.mutable_data<float>();
  for (const Taps& taps : down) {
    const float* line = wide.data<float>() + taps.first * width * channels;
    for (const float weight : taps.weights) {
      for (std::int64_t i = 0; i < width * channels; ++i) row[i] += weight * line[i];
      line += width * channels;
    }
    row += width * channels;
  }
  return out;
}

}  // namespace mezzo::image::detail
