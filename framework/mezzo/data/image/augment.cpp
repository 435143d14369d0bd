#include <mezzo/data/image/augment.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/pixels.hpp>

namespace mezzo::image::detail {
namespace {

enum class Beyond { reflect, mirror, wrap, constant, nearest };

Beyond beyond_of(const std::string& fill_mode) {
  return fill_mode == "reflect"    ? Beyond::reflect
         : fill_mode == "mirror"   ? Beyond::mirror
         : fill_mode == "wrap"     ? Beyond::wrap
         : fill_mode == "constant" ? Beyond::constant
                                   : Beyond::nearest;
}

/// Index in [0, size), or -1 for a place without a pixel.
std::int64_t fixed(std::int64_t index, std::int64_t size, Beyond beyond) {
  if (index >= 0 && index < size) return index;
  if (beyond == Beyond::constant) return -1;
  if (beyond == Beyond::nearest) return std::clamp<std::int64_t>(index, 0, size - 1);
  // Reflections at the centers of the border's pixels, or at their outer edges.
  const bool mirror = beyond == Beyond::mirror;
  const std::int64_t period = beyond == Beyond::wrap ? size
                              : mirror               ? std::max<std::int64_t>(2 * size - 2, 1)
                                                     : 2 * size;
  const std::int64_t place = ((index % period) + period) % period;
  return place < size ? place : period - (mirror ? 0 : 1) - place;
}

/// Pixel (k, i) comes from the place {x, y} = place_of(k, i).
template <class P>
Tensor sampled(const Tensor& image, const Sampling& sampling, const P& place_of) {
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
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < columns; ++k, to += channels) {
        const std::pair<double, double> place = place_of(static_cast<double>(k), static_cast<double>(i));
        const double x = place.first, y = place.second;
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

}  // namespace

void check_sampling(const Sampling& sampling, const std::string& where) {
  const auto check = [&](const char* option, const std::string& given, const std::vector<std::string>& valid) {
    if (std::find(valid.begin(), valid.end(), given) != valid.end()) return;
    fail_unknown(where, option, given, valid);
  };
  check("fill_mode", sampling.fill_mode, {"constant", "nearest", "reflect", "wrap"});
  check("interpolation", sampling.interpolation, {"bilinear", "nearest"});
  if (!std::isfinite(sampling.fill_value)) {
    fail<ValueError>(where, "fill_value must be finite; got {}", sampling.fill_value);
  }
}

Tensor transformed(const Tensor& image, const std::array<double, 6>& transform, const Sampling& sampling) {
  return sampled(image, sampling, [&t = transform](double x, double y) {
    return std::pair<double, double>(t[0] * x + t[1] * y + t[2], t[3] * x + t[4] * y + t[5]);
  });
}

Tensor in_perspective(const Tensor& image, const std::array<double, 8>& h, const Sampling& sampling) {
  return sampled(image, sampling, [&h](double x, double y) {
    const double k = h[6] * x + h[7] * y + 1;
    return std::pair<double, double>((h[0] * x + h[1] * y + h[2]) / k, (h[3] * x + h[4] * y + h[5]) / k);
  });
}

std::array<double, 8> perspective_of(const std::array<double, 8>& start, const std::array<double, 8>& end) {
  // Rows of the equations for each corner, with the right side as column 8.
  std::array<std::array<double, 9>, 8> rows{};
  for (std::size_t i = 0; i < 4; ++i) {
    const double sx = start[2 * i], sy = start[2 * i + 1], ex = end[2 * i], ey = end[2 * i + 1];
    rows[i] = {ex, ey, 1, 0, 0, 0, -sx * ex, -sx * ey, sx};
    rows[i + 4] = {0, 0, 0, ex, ey, 1, -sy * ex, -sy * ey, sy};
  }
  for (std::size_t c = 0; c < 8; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < 8; ++r) pivot = std::abs(rows[r][c]) > std::abs(rows[pivot][c]) ? r : pivot;
    // Corners on one line have no transform.
    if (std::abs(rows[pivot][c]) < 1e-12) return {1, 0, 0, 0, 1, 0, 0, 0};
    std::swap(rows[c], rows[pivot]);
    for (std::size_t r = 0; r < 8; ++r) {
      const double share = r == c ? 0 : rows[r][c] / rows[c][c];
      for (std::size_t k = c; k < 9; ++k) rows[r][k] -= share * rows[c][k];
    }
  }
  std::array<double, 8> solution{};
  for (std::size_t c = 0; c < 8; ++c) solution[c] = rows[c][8] / rows[c][c];
  return solution;
}

Tensor displaced(const Tensor& image, const std::vector<double>& dx, const std::vector<double>& dy,
                 const Sampling& sampling) {
  std::size_t pixel = 0;
  return sampled(image, sampling, [&](double x, double y) {
    const std::pair<double, double> place(x + dx[pixel], y + dy[pixel]);
    ++pixel;
    return place;
  });
}

Tensor part_of(const Tensor& image, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) {
  const std::int64_t rows = image.shape()[0], columns = image.shape()[1], channels = image.shape()[2];
  const std::int64_t high = std::min(height, rows - top), wide = std::min(width, columns - left);
  const std::size_t pixel = static_cast<std::size_t>(channels) * dtype_size(image.dtype());
  Tensor out = Tensor::uninitialized({high, wide, channels}, image.dtype());
  const auto* const from = static_cast<const std::byte*>(image.raw());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  const std::size_t line = static_cast<std::size_t>(wide) * pixel;
  for (std::int64_t y = top; y < top + high; ++y, to += line) {
    std::memcpy(to, from + static_cast<std::size_t>(y * columns + left) * pixel, line);
  }
  return out;
}

namespace {

/// Pixels of a row in the opposite order; `size` is that of a pixel in bytes.
template <std::size_t size>
void mirror_row(const std::byte* from, std::byte* to, std::int64_t columns) {
  for (std::int64_t k = 0; k < columns; ++k, to += size) {
    std::memcpy(to, from + static_cast<std::size_t>(columns - 1 - k) * size, size);
  }
}

}  // namespace

Tensor flipped(const Tensor& image, bool horizontal, bool vertical) {
  const std::int64_t rows = image.shape()[0], columns = image.shape()[1];
  const std::size_t pixel = static_cast<std::size_t>(image.shape()[2]) * dtype_size(image.dtype());
  Tensor out = Tensor::uninitialized(image.shape(), image.dtype());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  const std::size_t line = static_cast<std::size_t>(columns) * pixel;
  for (std::int64_t i = 0; i < rows; ++i, to += line) {
    const auto* const from =
        static_cast<const std::byte*>(image.raw()) + static_cast<std::size_t>(vertical ? rows - 1 - i : i) * line;
    if (!horizontal) {
      std::memcpy(to, from, line);
    } else if (pixel == 3) {
      mirror_row<3>(from, to, columns);
    } else if (pixel == 12) {
      mirror_row<12>(from, to, columns);
    } else {
      for (std::int64_t k = 0; k < columns; ++k) {
        std::memcpy(to + static_cast<std::size_t>(k) * pixel, from + static_cast<std::size_t>(columns - 1 - k) * pixel,
                    pixel);
      }
    }
  }
  return out;
}

Tensor adjusted(const Tensor& image, double gain, double offset, double low, double high) {
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t channels = image.shape()[2], pixels = channels == 0 ? 0 : image.size() / channels;
    std::vector<double> means(static_cast<std::size_t>(channels));
    const T* const from = image.data<T>();
    for (std::int64_t pixel = 0; gain != 1 && pixel < pixels; ++pixel) {
      for (std::int64_t c = 0; c < channels; ++c) {
        means[static_cast<std::size_t>(c)] += static_cast<double>(from[pixel * channels + c]);
      }
    }
    Tensor out = Tensor::uninitialized(image.shape(), image.dtype());
    T* const to = out.template mutable_data<T>();
    const auto factor = static_cast<T>(gain), added = static_cast<T>(offset);
    const auto least = static_cast<T>(low), most = static_cast<T>(high);
    for (std::int64_t i = 0; gain == 1 && i < image.size(); ++i) to[i] = std::clamp(from[i] + added, least, most);
    for (std::int64_t c = 0; gain != 1 && c < channels; ++c) {
      const auto mean = static_cast<T>(means[static_cast<std::size_t>(c)] / static_cast<double>(pixels));
      for (std::int64_t i = c; i < image.size(); i += channels) {
        to[i] = std::clamp((from[i] - mean) * factor + mean + added, least, most);
      }
    }
    return out;
  });
}

}  // namespace mezzo::image::detail
