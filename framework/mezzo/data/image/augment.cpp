#include <mezzo/data/image/augment.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::image::detail {
namespace {

enum class Beyond { reflect, wrap, constant, nearest };

Beyond beyond_of(const std::string& fill_mode) {
  return fill_mode == "reflect"    ? Beyond::reflect
         : fill_mode == "wrap"     ? Beyond::wrap
         : fill_mode == "constant" ? Beyond::constant
                                   : Beyond::nearest;
}

/// Index in [0, size), or -1 for a place without a pixel.
std::int64_t fixed(std::int64_t index, std::int64_t size, Beyond beyond) {
  if (index >= 0 && index < size) return index;
  if (beyond == Beyond::constant) return -1;
  if (beyond == Beyond::nearest) return std::clamp<std::int64_t>(index, 0, size - 1);
  const std::int64_t period = beyond == Beyond::wrap ? size : 2 * size;
  const std::int64_t place = ((index % period) + period) % period;
  return place < size ? place : period - 1 - place;
}

/// Calls function(T()) with the element type of the picture.
template <class F>
Tensor of_type(const Tensor& image, const F& function) {
  return image.dtype() == DType::float64 ? function(double{}) : function(float{});
}

}  // namespace

void check_sampling(const Sampling& sampling, const std::string& where) {
  const auto check = [&](const char* option, const std::string& given, const std::vector<std::string>& valid) {
    if (std::find(valid.begin(), valid.end(), given) != valid.end()) return;
    fail<NameError>(where, "unknown {} \"{}\"; valid names: {}", option, given, fmt::join(valid, ", "));
  };
  check("fill_mode", sampling.fill_mode, {"constant", "nearest", "reflect", "wrap"});
  check("interpolation", sampling.interpolation, {"bilinear", "nearest"});
}

Tensor transformed(const Tensor& image, const std::array<double, 6>& transform, const Sampling& sampling) {
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t rows = image.shape()[0], columns = image.shape()[1], channels = image.shape()[2];
    const Beyond beyond = beyond_of(sampling.fill_mode);
    const bool nearest = sampling.interpolation == "nearest";
    const auto fill = static_cast<T>(sampling.fill_value);
    Tensor out(image.shape(), image.dtype());
    const T* const from = image.data<T>();
    T* to = out.template mutable_data<T>();
    const auto add = [&](double y, double x, T weight) {
      // Places far outside don't fit into integers.
      const auto index = [](double place) { return static_cast<std::int64_t>(std::clamp(place, -1e15, 1e15)); };
      const std::int64_t row = fixed(index(y), rows, beyond), column = fixed(index(x), columns, beyond);
      const T* const pixel = row < 0 || column < 0 ? nullptr : from + (row * columns + column) * channels;
      for (std::int64_t c = 0; c < channels; ++c) to[c] += weight * (pixel == nullptr ? fill : pixel[c]);
    };
    const auto [a0, a1, a2, b0, b1, b2] = transform;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < columns; ++k, to += channels) {
        const double x = a0 * static_cast<double>(k) + a1 * static_cast<double>(i) + a2;
        const double y = b0 * static_cast<double>(k) + b1 * static_cast<double>(i) + b2;
        if (nearest) {
          add(std::round(y), std::round(x), 1);
          continue;
        }
        const double top = std::floor(y), left_column = std::floor(x);
        const auto down = static_cast<T>(y - top), across = static_cast<T>(x - left_column);
        add(top, left_column, (1 - down) * (1 - across));
        if (across != 0) add(top, left_column + 1, (1 - down) * across);
        if (down != 0) add(top + 1, left_column, down * (1 - across));
        if (across != 0 && down != 0) add(top + 1, left_column + 1, down * across);
      }
    }
    return out;
  });
}

Tensor flipped(const Tensor& image, bool horizontal, bool vertical) {
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t rows = image.shape()[0], columns = image.shape()[1], channels = image.shape()[2];
    Tensor out = Tensor::uninitialized(image.shape(), image.dtype());
    T* to = out.template mutable_data<T>();
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < columns; ++k, to += channels) {
        const std::int64_t row = vertical ? rows - 1 - i : i, column = horizontal ? columns - 1 - k : k;
        std::copy_n(image.data<T>() + (row * columns + column) * channels, channels, to);
      }
    }
    return out;
  });
}

Tensor adjusted(const Tensor& image, double gain, double offset, double low, double high) {
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t channels = image.shape()[2], pixels = channels == 0 ? 0 : image.size() / channels;
    std::vector<double> means(static_cast<std::size_t>(channels));
    const T* const from = image.data<T>();
    for (std::int64_t i = 0; gain != 1 && i < image.size(); ++i) {
      means[static_cast<std::size_t>(i % channels)] += static_cast<double>(from[i]);
    }
    for (double& mean : means) mean /= static_cast<double>(pixels);
    Tensor out = Tensor::uninitialized(image.shape(), image.dtype());
    T* const to = out.template mutable_data<T>();
    const auto factor = static_cast<T>(gain), added = static_cast<T>(offset);
    const auto least = static_cast<T>(low), most = static_cast<T>(high);
    for (std::int64_t i = 0; i < image.size(); ++i) {
      const auto mean = static_cast<T>(means[static_cast<std::size_t>(i % channels)]);
      const T changed = gain == 1 ? from[i] : (from[i] - mean) * factor + mean;
      to[i] = std::clamp(changed + added, least, most);
    }
    return out;
  });
}

}  // namespace mezzo::image::detail
