#include <mezzo/ops/image.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/image_helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/reductions.hpp>

// Colours, sizes, patches and filters of images.
namespace mezzo {
namespace {

void require_colours(const char* name, const Value& images) {
  if (images.shape().empty() || images.shape().back() != 3) {
    fail<ShapeError>(detail::current_label(name), "images must have 3 channels; got shape {}", images.shape());
  }
  if (!is_floating(images.dtype())) {
    fail<DTypeError>(detail::current_label(name), "images must be floats in [0, 1]; got {}", images.dtype());
  }
}

/// x with an axis of size m contracted with weights (n, m).
Value contracted(const Value& x, const Tensor& weights, std::int64_t axis) {
  return moveaxis(tensordot(x, weights.cast(x.dtype()), axis, 1), -1, axis);
}

/// The filter's weight at a distance in pixels.
double filter_weight(const std::string& method, double x) {
  if (method == "cubic") {
    if (x >= 2) return 0;
    return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
  }
  if (method == "linear") return std::max(0.0, 1 - x);
  const double radius = method == "lanczos3" ? 3 : 5, pi = std::numbers::pi;
  if (x > radius) return 0;
  return x > 1e-3 ? radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x) : 1;
}

/// Weights (to, from) of a filter along an axis. The weights of a result sum to 1; they are 0 outside of the image.
Tensor resampling(const std::string& method, std::int64_t from, std::int64_t to, double scale, double translation,
                  bool antialias) {
  Tensor out({to, from}, DType::float64);
  double* const weights = out.mutable_data<double>();
  const double width = antialias ? std::max(1 / scale, 1.0) : 1;
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5 - translation) / scale - 0.5;
    if (center < -0.5 || center > static_cast<double>(from) - 0.5) continue;
    double sum = 0;
    for (std::int64_t j = 0; j < from; ++j) {
      sum += weights[i * from + j] = filter_weight(method, std::abs(center - static_cast<double>(j)) / width);
    }
    for (std::int64_t j = 0; j < from; ++j)
      weights[i * from + j] = std::abs(sum) > 1.2e-4 ? weights[i * from + j] / sum : 0;
  }
  return out;
}

Tensor nearest_pixels(std::int64_t from, std::int64_t to) {
  Tensor out({to}, DType::int64);
  for (std::int64_t i = 0; i < to; ++i) {
    const float place = (static_cast<float>(i) + 0.5F) * static_cast<float>(from) / static_cast<float>(to);
    out.mutable_data<std::int64_t>()[i] = std::min(static_cast<std::int64_t>(place), from - 1);
  }
  return out;
}

/// The middle part of images with the proportions of the new size.
Value cropped_to(const Value& x, std::int64_t height, std::int64_t width) {
  const std::int64_t h = x.shape()[1].or_unknown(), w = x.shape()[2].or_unknown();
  const std::int64_t rows = std::clamp<std::int64_t>(w * height / width, 1, h);
  const std::int64_t columns = std::clamp<std::int64_t>(h * width / height, 1, w);
  return slice(x, {{0, (h - rows) / 2, (w - columns) / 2, 0}, {-1, rows, columns, -1}});
}

/// Images with borders added for the proportions of the new size.
Value padded_to(const Value& x, std::int64_t height, std::int64_t width, double fill_value) {
  const std::int64_t h = x.shape()[1].or_unknown(), w = x.shape()[2].or_unknown();
  const std::int64_t rows = (std::max(h, w * height / width) - h) / 2;
  const std::int64_t columns = rows > 0 ? 0 : (std::max(w, h * width / height) - w) / 2;
  if (rows == 0 && columns == 0) return x;
  return pad(x, {{0, rows, columns, 0}, {0, rows, columns, 0}, "constant", fill_value});
}

using Pixels = std::optional<std::int64_t>;

/// Checks that one of three numbers is left out, and returns the first and the last of them.
std::pair<std::int64_t, std::int64_t> borders(const char* name, const char* side, Pixels before, Pixels after,
                                              Pixels target, std::int64_t size, bool crops) {
  const std::string where = detail::current_label(name);
  if (before.has_value() + after.has_value() + target.has_value() != 2) {
    fail<ValueError>(where, "two of three numbers must be given for the {}: both sides, or one and the target; got {}",
                     side, before.has_value() + after.has_value() + target.has_value());
  }
  const std::int64_t both = target ? (crops ? size - *target : *target - size) : *before + *after;
  const std::int64_t first = before.value_or(both - after.value_or(0)), last = after.value_or(both - first);
  if (first < 0 || last < 0 || target.value_or(0) < 0 || (crops && first + last > size)) {
    fail<ValueError>(where, "numbers for the {} must be at least 0 and fit images of {}; got {} and {} at the sides",
                     side, size, first, last);
  }
  return {first, last};
}

Value patches(const char* name, const Value& images, const detail::Ints& size, const image::PatchOptions& options,
              std::size_t spatial) {
  const std::string where = detail::current_label(name);
  const auto all = [&](const detail::Ints& numbers, const char* what) {
    Shape out = numbers.numbers();
    if (out.size() == 1) out.resize(spatial, out[0]);
    if (out.size() != spatial || std::any_of(out.begin(), out.end(), [](std::int64_t n) { return n < 1; })) {
      fail<ValueError>(where, "{} must be one number or {}, each at least 1; got {}", what, spatial,
                       detail::numbers_text(numbers.numbers()));
    }
    return out;
  };
  const Shape window = all(size, "size"), dilation = all(options.dilation_rate, "dilation_rate");
  const Shape strides = options.strides.empty() ? window : all(options.strides, "strides");
  if (options.padding != "valid" && options.padding != "same") {
    fail_unknown(where, "padding", options.padding, {"same", "valid"});
  }
  const Shape whole = detail::with_batch(images, spatial);
  if (whole.size() != spatial + 2) {
    fail<ShapeError>(where, "images must have {} axes, or {} with a batch; got shape {}", spatial + 1, spatial + 2,
                     images.shape());
  }
  Shape before(spatial + 2, 0), after(spatial + 2, 0), sizes, positions;
  std::int64_t elements = whole.back();
  for (std::size_t k = 0; k < spatial; ++k) {
    const std::int64_t length = whole[k + 1], reach = dilation[k] * (window[k] - 1) + 1;
    if (length < 0) fail<ShapeError>(where, "the size of images must be known; got shape {}", images.shape());
    if (options.padding == "same") {
      const std::int64_t count = (length + strides[k] - 1) / strides[k];
      const std::int64_t total = std::max<std::int64_t>((count - 1) * strides[k] + reach - length, 0);
      before[k + 1] = total / 2;
      after[k + 1] = total - total / 2;
    }
    sizes.push_back(length + before[k + 1] + after[k + 1]);
    elements *= window[k];
  }
  const Tensor places = detail::window_indices(sizes, window, strides, dilation, false, positions);
  Shape result{whole[0]};
  result.insert(result.end(), positions.begin(), positions.end());
  result.push_back(elements);
  return detail::of_images(
      name, images, {}, result, images.dtype(),
      [=](const Values& xs) {
        Shape shape = result;
        shape[0] = xs[0].shape()[0].or_unknown();
        const bool padded = before != Shape(before.size(), 0) || after != before;
        const Value x = padded ? pad(xs[0], {before, after}) : xs[0];
        const Value lines = reshape(x, {shape[0], element_count(sizes), x.shape().back()});
        return reshape(take(lines, places, 1), shape);
      },
      spatial);
}

}  // namespace

Value image::rgb_to_grayscale(const Value& images) {
  Shape shape = detail::with_batch(images);
  if (shape.empty() || (shape.back() != 3 && shape.back() != 1)) {
    fail<ShapeError>(detail::current_label("rgb_to_grayscale"), "images must have 3 channels, or 1; got shape {}",
                     images.shape());
  }
  if (shape.back() == 1) return images;
  shape.back() = 1;
  return detail::of_images("rgb_to_grayscale", images, {}, shape, images.dtype(), [](const Values& xs) {
    DType narrow{};
    const Value wide = detail::as_wide(xs[0], narrow);
    const Tensor weights = Tensor({3}, std::vector<double>{0.2989, 0.5870, 0.1140}).cast(wide.dtype());
    return detail::as(sum(wide * weights, {{-1}, true}), xs[0].dtype());
  });
}

Value image::rgb_to_hsv(const Value& images) {
  require_colours("rgb_to_hsv", images);
  const DType dtype = images.dtype();
  return detail::of_images("rgb_to_hsv", images, {}, detail::with_batch(images), dtype, [dtype](const Values& xs) {
    const double epsilon = dtype == DType::float64   ? 0x1p-52
                           : dtype == DType::float32 ? 0x1p-23
                           : dtype == DType::float16 ? 0x1p-10
                                                     : 0x1p-7;
    const Values rgb = unstack(where(abs(xs[0]) < epsilon, 0.0, xs[0]), -1);
    const Value &r = rgb[0], &g = rgb[1], &b = rgb[2];
    const Value value = maximum(maximum(r, g), b), range = value - minimum(minimum(r, g), b);
    const Value saturation = where(value > 0, range / where(value > 0, value, 1.0), 0.0);
    const Value norm = 1 / (6 * where(range > 0, range, 1.0));
    Value hue = where(equal(value, g), norm * (b - r) + 2.0 / 6, norm * (r - g) + 4.0 / 6);
    hue = where(equal(value, r), norm * (g - b), hue);
    hue = where(range > 0, hue, 0.0) + where(hue < 0, 1.0, 0.0);
    return detail::as(stack({hue, saturation, value}, -1), dtype);
  });
}

Value image::hsv_to_rgb(const Value& images) {
  require_colours("hsv_to_rgb", images);
  const DType dtype = images.dtype();
  return detail::of_images("hsv_to_rgb", images, {}, detail::with_batch(images), dtype, [dtype](const Values& xs) {
    const Values hsv = unstack(xs[0], -1);
    const Value turn = mod(hsv[0], 1.0) * 6;
    const auto mixed = [&](const Value& share) { return hsv[2] * (1 - hsv[1] + hsv[1] * clip(share, 0.0, 1.0)); };
    return detail::as(stack({mixed(abs(turn - 3) - 1), mixed(2 - abs(turn - 2)), mixed(2 - abs(turn - 4))}, -1), dtype);
  });
}

Value image::resize(const Value& images, const detail::Ints& size, const ResizeImagesOptions& options) {
  const std::string where = detail::current_label("resize");
  const std::string& name = options.interpolation;
  const std::string method = name == "bilinear" ? "linear" : name == "bicubic" ? "cubic" : name;
  if (method == "linear"  ? name != "bilinear"
      : method == "cubic" ? name != "bicubic"
                          : name != "nearest" && name != "lanczos3" && name != "lanczos5") {
    fail_unknown(where, "interpolation", name, {"bicubic", "bilinear", "lanczos3", "lanczos5", "nearest"});
  }
  const Shape target = size.pair(where, "size");
  if (options.crop_to_aspect_ratio && options.pad_to_aspect_ratio) {
    fail<ValueError>(where, "one of crop_to_aspect_ratio and pad_to_aspect_ratio can be true; got both");
  }
  Shape shape = detail::with_batch(images);
  if (shape.size() == 4) {
    if (shape[1] < 1 || shape[2] < 1) fail<ShapeError>(where, "images must have pixels; got shape {}", images.shape());
    shape[1] = target[0];
    shape[2] = target[1];
  }
  const DType dtype = method == "nearest" ? images.dtype() : detail::float_of(images);
  return detail::of_images("resize", images, {}, shape, dtype, [=](const Values& xs) {
    Value x = method == "nearest" ? xs[0] : cast(xs[0], dtype);
    if (options.crop_to_aspect_ratio) x = cropped_to(x, target[0], target[1]);
    if (options.pad_to_aspect_ratio) x = padded_to(x, target[0], target[1], options.fill_value);
    for (std::int64_t axis = 1; axis <= 2; ++axis) {
      const std::int64_t from = x.shape()[static_cast<std::size_t>(axis)].or_unknown(),
                         to = target[static_cast<std::size_t>(axis - 1)];
      if (from == to) continue;
      const double scale = static_cast<double>(to) / static_cast<double>(from);
      x = method == "nearest" ? take(x, nearest_pixels(from, to), axis)
                              : contracted(x, resampling(method, from, to, scale, 0, options.antialias), axis);
    }
    return x;
  });
}

Value image::scale_and_translate(const Value& images, const Shape& output_shape, const std::vector<double>& scale,
                                 const std::vector<double>& translation, const Shape& spatial_dims,
                                 const ScaleOptions& options) {
  const std::string where = detail::current_label("scale_and_translate");
  std::string method = options.method;
  for (const char* prefix : {"bi", "tri"}) {
    if (method.rfind(prefix, 0) == 0) method = method.substr(std::string(prefix).size());
  }
  if (method != "linear" && method != "cubic" && options.method != "lanczos3" && options.method != "lanczos5") {
    fail_unknown(where, "method", options.method,
                 {"bicubic", "bilinear", "cubic", "lanczos3", "lanczos5", "linear", "tricubic", "trilinear"});
  }
  const std::size_t rank = images.shape().size();
  if (output_shape.size() != rank || scale.size() != spatial_dims.size() || translation.size() != spatial_dims.size()) {
    fail<ShapeError>(where, "output_shape must have {} sizes, scale and translation {} numbers; got {}, {} and {}",
                     rank, spatial_dims.size(), output_shape.size(), scale.size(), translation.size());
  }
  detail::normalize_axes(spatial_dims.empty() ? Shape{} : spatial_dims, rank, where);
  Value x = cast(images, detail::float_of(images));
  for (std::size_t i = 0; i < spatial_dims.size(); ++i) {
    const std::int64_t axis = detail::normalize_axis(spatial_dims[i], rank, where);
    const std::int64_t from = x.shape()[static_cast<std::size_t>(axis)].or_unknown(),
                       to = output_shape[static_cast<std::size_t>(axis)];
    if (from < 0 || to < 0) fail<ShapeError>(where, "axis {} must have known sizes; got {} and {}", axis, from, to);
    if (!(scale[i] > 0)) fail<ValueError>(where, "scale must be positive; got {}", scale[i]);
    x = contracted(x, resampling(method, from, to, scale[i], translation[i], options.antialias), axis);
  }
  if (x.shape() != output_shape) {
    fail<ShapeError>(where, "output_shape must be that of images on axes without a scale: {}; got {}", x.shape(),
                     output_shape);
  }
  return x;
}

Value image::crop_images(const Value& images, const CropImagesOptions& o) {
  Shape shape = detail::with_batch(images);
  if (shape.size() != 4) return detail::of_images("crop_images", images, {}, shape, images.dtype(), nullptr);
  const auto [top, bottom] =
      borders("crop_images", "height", o.top_cropping, o.bottom_cropping, o.target_height, shape[1], true);
  const auto [left, right] =
      borders("crop_images", "width", o.left_cropping, o.right_cropping, o.target_width, shape[2], true);
  const Shape starts{0, top, left, 0}, sizes{-1, shape[1] - top - bottom, shape[2] - left - right, -1};
  shape[1] = sizes[1];
  shape[2] = sizes[2];
  return detail::of_images("crop_images", images, {}, shape, images.dtype(), [starts, sizes](const Values& xs) {
    return slice(xs[0], SliceOptions{starts, sizes});
  });
}

Value image::pad_images(const Value& images, const PadImagesOptions& o) {
  Shape shape = detail::with_batch(images);
  if (shape.size() != 4) return detail::of_images("pad_images", images, {}, shape, images.dtype(), nullptr);
  const auto [top, bottom] =
      borders("pad_images", "height", o.top_padding, o.bottom_padding, o.target_height, shape[1], false);
  const auto [left, right] =
      borders("pad_images", "width", o.left_padding, o.right_padding, o.target_width, shape[2], false);
  const Shape before{0, top, left, 0}, after{0, bottom, right, 0};
  shape[1] += top + bottom;
  shape[2] += left + right;
  return detail::of_images("pad_images", images, {}, shape, images.dtype(), [before, after](const Values& xs) {
    return pad(xs[0], {before, after});
  });
}

Value image::extract_patches(const Value& images, const detail::Ints& size, const PatchOptions& options) {
  return patches("extract_patches", images, size, options, 2);
}

Value image::extract_patches_3d(const Value& volumes, const detail::Ints& size, const PatchOptions& options) {
  return patches("extract_patches_3d", volumes, size, options, 3);
}

Value image::gaussian_blur(const Value& images, const BlurOptions& options) {
  const std::string where = detail::current_label("gaussian_blur");
  const Shape size = options.kernel_size.pair(where, "kernel_size");
  if (options.sigma.size() != 2 || !(options.sigma[0] > 0) || !(options.sigma[1] > 0)) {
    fail<ValueError>(where, "sigma must be two positive numbers; got [{}]", fmt::join(options.sigma, ", "));
  }
  const Tensor row = detail::gaussian(size[0], options.sigma[0]).reshape({1, -1});
  const Tensor column = detail::gaussian(size[1], options.sigma[1]).reshape({-1, 1});
  return detail::of_images("gaussian_blur", images, {}, detail::with_batch(images), detail::float_of(images),
                           [row, column](const Values& xs) {
                             const Value x = cast(xs[0], detail::float_of(xs[0]));
                             return detail::filtered(detail::filtered(x, row, "same"), column, "same");
                           });
}

Value image::sobel_edges(const Value& images) {
  Shape shape = detail::with_batch(images);
  shape.push_back(2);
  const Tensor across({3, 3}, std::vector<double>{-1, 0, 1, -2, 0, 2, -1, 0, 1});
  const Tensor down({3, 3}, std::vector<double>{-1, -2, -1, 0, 0, 0, 1, 2, 1});
  return detail::of_images("sobel_edges", images, {}, shape, detail::float_of(images),
                           [across, down](const Values& xs) {
                             const Value x = cast(xs[0], detail::float_of(xs[0]));
                             return stack({detail::filtered(x, down, "same"), detail::filtered(x, across, "same")}, -1);
                           });
}

Value image::ssim(const Value& image1, const Value& image2, const SsimOptions& options) {
  const std::string where = detail::current_label("ssim");
  if (image1.shape() != image2.shape()) {
    fail<ShapeError>(where, "images must have one shape; got {} and {}", image1.shape(), image2.shape());
  }
  if (options.filter_size < 1 || !(options.filter_sigma > 0)) {
    fail<ValueError>(where, "filter_size must be at least 1 and filter_sigma positive; got {} and {}",
                     options.filter_size, options.filter_sigma);
  }
  const Tensor weights = detail::gaussian(options.filter_size, options.filter_sigma);
  const Value second = image2.shape().size() == 3 ? expand_dims(image2, 0) : image2;
  const DType dtype = detail::float_of(image1);
  return detail::of_images("ssim", image1, {second}, {detail::with_batch(image1)[0]}, dtype, [=](const Values& xs) {
    DType narrow{};
    const Value a = detail::as_wide(xs[0], narrow), b = detail::as_wide(xs[1], narrow);
    const auto smooth = [&](const Value& x) {
      return detail::filtered(detail::filtered(x, weights.reshape({-1, 1}), "valid"), weights.reshape({1, -1}),
                              "valid");
    };
    const double c1 = std::pow(options.k1 * options.max_val, 2), c2 = std::pow(options.k2 * options.max_val, 2);
    const Value mean1 = smooth(a), mean2 = smooth(b), squares1 = mean1 * mean1, squares2 = mean2 * mean2;
    const Value product = mean1 * mean2, covariance = smooth(a * b) - product;
    const Value variances = smooth(a * a) - squares1 + (smooth(b * b) - squares2);
    const Value map = (2 * product + c1) * (2 * covariance + c2) / ((squares1 + squares2 + c1) * (variances + c2));
    return detail::as(mean(map, {{1, 2, 3}}), dtype);
  });
}

}  // namespace mezzo
