#include <mezzo/data/image/colors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/data/image/pixels.hpp>

namespace mezzo::image::detail {
namespace {

template <class T>
struct Hsv {
  T hue, saturation, value;
};

/// Hue, saturation and value of a color: keras.ops.image.rgb_to_hsv.
template <class T>
Hsv<T> to_hsv(const T* rgb) {
  const auto kept = [](T x) { return std::abs(x) < std::numeric_limits<T>::epsilon() ? T(0) : x; };
  const T r = kept(rgb[0]), g = kept(rgb[1]), b = kept(rgb[2]);
  const T value = std::max(std::max(r, g), b), range = value - std::min(std::min(r, g), b);
  if (!(range > 0)) return {0, value > 0 ? range / value : T(0), value};
  const T norm = 1 / (6 * range);
  T hue = value == r ? norm * (g - b) : value == g ? norm * (b - r) + T(2.0 / 6) : norm * (r - g) + T(4.0 / 6);
  if (hue < 0) hue += 1;
  return {hue, value > 0 ? range / value : T(0), value};
}

/// Red, green and blue of a color: keras.ops.image.hsv_to_rgb.
template <class T>
void to_rgb(const Hsv<T>& hsv, T* rgb) {
  const T turn = (hsv.hue - std::floor(hsv.hue)) * 6;
  const auto mixed = [&](T share) {
    return hsv.value * (1 - hsv.saturation + hsv.saturation * std::clamp<T>(share, 0, 1));
  };
  rgb[0] = mixed(std::abs(turn - 3) - 1);
  rgb[1] = mixed(2 - std::abs(turn - 2));
  rgb[2] = mixed(2 - std::abs(turn - 4));
}

/// x in [from_low, from_high] mapped to [to_low, to_high]; the same number if the ranges are equal.
struct Mapping {
  double from_low, from_high, to_low, to_high;

  template <class T>
  T operator()(T x) const {
    if (from_low == to_low && from_high == to_high) return x;
    const T share = (x - static_cast<T>(from_low)) / static_cast<T>(from_high - from_low);
    return share * static_cast<T>(to_high - to_low) + static_cast<T>(to_low);
  }
};

/// Number in [0, most]; 0 for NaN.
template <class T>
T limited(T x, T most) {
  return x > 0 ? std::min(x, most) : T(0);
}

/// New values of the bins of a channel that was mapped to [0, 255]; empty if one bin has all of its elements.
template <class T>
std::vector<T> equalizing_table(const T* channel, std::int64_t pixels, std::int64_t channels, std::int64_t bins,
                                const Mapping& bytes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
  for (std::int64_t i = 0; i < pixels; ++i) {
    const auto value = static_cast<float>(bytes(channel[i * channels]));
    ++counts[static_cast<std::size_t>(limited(value * static_cast<float>(bins - 1) / 255, float(bins - 1)))];
  }
  if (std::count(counts.begin(), counts.end(), 0) >= bins - 1) return {};
  const auto least = static_cast<double>(*std::find_if(counts.begin(), counts.end(), [](auto n) { return n > 0; }));
  std::vector<T> table;
  double sum = 0;
  for (const std::int64_t count : counts) {
    sum += static_cast<double>(count);
    const double level = std::nearbyint((sum - least) * 255 / (static_cast<double>(pixels) - least));
    table.push_back(static_cast<T>(std::clamp(level, 0.0, 255.0)));
  }
  return table;
}

std::vector<double> gaussian(std::int64_t size, double sigma) {
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const double x = (static_cast<double>(i) - static_cast<double>(size - 1) / 2) / sigma;
    weights.push_back(std::exp(-0.5 * x * x));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Filter along the middle axis of (outer, size, inner), with zeros beyond the border.
template <class T>
void filter_axis(const T* from, T* to, std::int64_t outer, std::int64_t size, std::int64_t inner,
                 const std::vector<double>& weights) {
  const auto half = static_cast<std::int64_t>(weights.size() / 2);
  std::fill_n(to, outer * size * inner, T(0));
  for (std::int64_t o = 0; o < outer; ++o, from += size * inner, to += size * inner) {
    for (std::int64_t shift = -half; shift <= half; ++shift) {
      const auto weight = static_cast<T>(weights[static_cast<std::size_t>(shift + half)]);
      const std::int64_t begin = std::max<std::int64_t>(0, -shift), end = size - std::max<std::int64_t>(0, shift);
      const T* const shifted = from + shift * inner;
      for (std::int64_t i = begin * inner; i < end * inner; ++i) to[i] += weight * shifted[i];
    }
  }
}

}  // namespace

Tensor with_hue(const Tensor& image, double turn, double low, double high) {
  const Mapping to_units{low, high, 0, 1}, from_units{0, 1, low, high};
  return each_color(image, [&](auto* from, auto* to) {
    using T = std::decay_t<decltype(*to)>;
    const T units[3] = {to_units(from[0]), to_units(from[1]), to_units(from[2])};
    Hsv<T> hsv = to_hsv(units);
    hsv.hue += static_cast<T>(turn);
    if (hsv.hue > 1) hsv.hue -= 1;
    if (hsv.hue < 0) hsv.hue += 1;
    to_rgb(hsv, to);
    for (int c = 0; c < 3; ++c) to[c] = from_units(std::clamp<T>(to[c], 0, 1));
  });
}

Tensor with_saturation(const Tensor& image, double factor, double low, double high) {
  return each_color(image, [&](auto* from, auto* to) {
    using T = std::decay_t<decltype(*to)>;
    Hsv<T> hsv = to_hsv(from);
    hsv.saturation = std::clamp(hsv.saturation * static_cast<T>(factor), static_cast<T>(low), static_cast<T>(high));
    to_rgb(hsv, to);
  });
}

Tensor towards_gray(const Tensor& image, double share) {
  return each_color(image, [share](auto* from, auto* to) {
    using T = std::decay_t<decltype(*to)>;
    const T gray = T(0.2989) * from[0] + T(0.5870) * from[1] + T(0.1140) * from[2];
    for (int c = 0; c < 3; ++c) to[c] = share == 1 ? gray : from[c] + static_cast<T>(share) * (gray - from[c]);
  });
}

Tensor sharpened(const Tensor& image, double factor) {
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t rows = image.shape()[0], columns = image.shape()[1], channels = image.shape()[2];
    const std::vector<double> ones(3, 1.0);
    Tensor sums = Tensor::uninitialized(image.shape(), image.dtype());
    Tensor out = Tensor::uninitialized(image.shape(), image.dtype());
    const T* const from = image.data<T>();
    T* const to = out.template mutable_data<T>();
    T* const sum = sums.template mutable_data<T>();
    filter_axis(from, sum, rows, columns, channels, ones);
    filter_axis(sum, to, 1, rows, columns * channels, ones);
    const auto share = static_cast<T>(1 - factor);
    for (std::int64_t i = 0; i < image.size(); ++i) {
      const T smoothed = (to[i] + 4 * from[i]) / 13;
      to[i] = from[i] + share * (smoothed - from[i]);
    }
    return out;
  });
}

Tensor posterized(const Tensor& image, int bits, double low, double high) {
  const Mapping to_bytes{low, high, 0, 255}, from_bytes{0, 255, low, high};
  const int lost = 8 - bits;
  return each_element(image, [&](auto x) {
    using T = decltype(x);
    const auto byte = static_cast<int>(limited(to_bytes(x), T(255)));
    return from_bytes(static_cast<T>((byte >> lost) << lost));
  });
}

Tensor solarized(const Tensor& image, double addition, double threshold, double low, double high) {
  const Mapping to_bytes{low, high, 0, 255}, from_bytes{0, 255, low, high};
  return each_element(image, [&](auto x) {
    using T = decltype(x);
    const T value = std::clamp<T>(to_bytes(x) + static_cast<T>(addition), 0, 255);
    return from_bytes(value < static_cast<T>(threshold) ? value : 255 - value);
  });
}

Tensor stretched(const Tensor& image, double low, double high) {
  const Mapping to_bytes{low, high, 0, 255}, from_bytes{0, 255, low, high};
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t channels = image.shape()[2];
    Tensor out = image.copy();
    T* const numbers = out.template mutable_data<T>();
    for (std::int64_t c = 0; c < channels; ++c) {
      T least = std::numeric_limits<T>::infinity(), most = -least;
      for (std::int64_t i = c; i < image.size(); i += channels) {
        least = std::min(least, numbers[i]);
        most = std::max(most, numbers[i]);
      }
      least = to_bytes(least);
      most = to_bytes(most);
      if (!(least < most)) continue;
      const T scale = 255 / (most - least), offset = -least * scale;
      for (std::int64_t i = c; i < image.size(); i += channels) {
        numbers[i] = from_bytes(std::clamp<T>(to_bytes(numbers[i]) * scale + offset, 0, 255));
      }
    }
    return out;
  });
}

Tensor equalized(const Tensor& image, std::int64_t bins, double low, double high) {
  const Mapping to_bytes{low, high, 0, 255}, from_bytes{0, 255, low, high};
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t channels = image.shape()[2], pixels = image.size() / channels;
    Tensor out = image.copy();
    T* const numbers = out.template mutable_data<T>();
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::vector<T> table = equalizing_table(numbers + c, pixels, channels, bins, to_bytes);
      if (table.empty()) continue;
      for (std::int64_t i = c; i < image.size(); i += channels) {
        const T bin = to_bytes(numbers[i]) / 255 * static_cast<T>(bins - 1);
        numbers[i] = from_bytes(table[static_cast<std::size_t>(limited(bin, static_cast<T>(bins - 1)))]);
      }
    }
    return out;
  });
}

Tensor blurred(const Tensor& image, const std::pair<std::int64_t, std::int64_t>& size,
               const std::pair<double, double>& sigma) {
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t rows = image.shape()[0], columns = image.shape()[1], channels = image.shape()[2];
    Tensor across = Tensor::uninitialized(image.shape(), image.dtype());
    Tensor out = Tensor::uninitialized(image.shape(), image.dtype());
    T* const to = out.template mutable_data<T>();
    T* const between = across.template mutable_data<T>();
    filter_axis(image.data<T>(), between, rows, columns, channels, gaussian(size.first, sigma.first));
    filter_axis(between, to, 1, rows, columns * channels, gaussian(size.second, sigma.second));
    return out;
  });
}

Tensor cut(const Tensor& image, double low, double high) {
  return each_element(image, [&](auto x) {
    using T = decltype(x);
    return std::clamp(x, static_cast<T>(low), static_cast<T>(high));
  });
}

}  // namespace mezzo::image::detail
