#include <algorithm>
#include <cmath>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Arrays of other sizes, resized along one axis after the other.
namespace mezzo::detail {
namespace {

struct ResizeSettings {
  std::string mode, positions, nearest;
  double cubic = -0.75, outside_value = 0;
  bool exclude_outside = false, antialias = false;
};

/// Resizing of one axis.
struct ResizedAxis {
  std::size_t axis = 0;  ///< in the file's order
  std::int64_t from = 0, to = 0;
  double scale = 1, begin = 0, end = 1;  ///< part of the axis, for tf_crop_and_resize
};

/// Position in the input of element i of the output.
double position_of(const ResizeSettings& s, const ResizedAxis& a, double i) {
  const auto from = static_cast<double>(a.from), to = static_cast<double>(a.to);
  if (s.positions == "asymmetric") return i / a.scale;
  if (s.positions == "pytorch_half_pixel") return to > 1 ? (i + 0.5) / a.scale - 0.5 : 0;
  if (s.positions == "align_corners") {
    const double exact = a.scale * from;
    return to > 1 && exact != 1 ? i * (from - 1) / (exact - 1) : 0;
  }
  if (s.positions == "tf_half_pixel_for_nn") return (i + 0.5) / a.scale;
  if (s.positions == "tf_crop_and_resize") {
    return to > 1 ? a.begin * (from - 1) + i * (a.end - a.begin) * (from - 1) / (to - 1)
                  : 0.5 * (a.begin + a.end) * (from - 1);
  }
  if (s.positions == "half_pixel_symmetric") {
    const double adjustment = to / (a.scale * from), center = from / 2;
    return center * (1 - adjustment) + (i + 0.5) / a.scale - 0.5;
  }
  return (i + 0.5) / a.scale - 0.5;
}

std::int64_t nearest_place(const ResizeSettings& s, double x) {
  if (s.nearest == "floor") return static_cast<std::int64_t>(std::floor(x));
  if (s.nearest == "ceil") return static_cast<std::int64_t>(std::ceil(x));
  if (s.nearest == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(x + 0.5));
  return static_cast<std::int64_t>(std::ceil(x - 0.5));
}

/// Weight of an element at a distance, for "linear" and "cubic".
double filter_weight(const ResizeSettings& s, double distance) {
  const double x = std::abs(distance), a = s.cubic;
  if (s.mode == "linear") return std::max(1 - x, 0.0);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Elements of the input, and their weights, of one element of the output.
struct Taps {
  std::vector<std::int64_t> places;
  std::vector<double> weights;
};

Taps taps_at(const ResizeSettings& s, const ResizedAxis& a, double x) {
  const double widening = s.antialias ? std::max(1 / a.scale, 1.0) : 1.0;
  const double reach = (s.mode == "linear" ? 1 : 2) * widening;
  Taps out;
  double total = 0;
  for (auto at = static_cast<std::int64_t>(std::floor(x - reach)) + 1; static_cast<double>(at) < x + reach + 1e-9;
       ++at) {
    double weight = filter_weight(s, (static_cast<double>(at) - x) / widening);
    if (weight == 0) continue;
    if ((s.exclude_outside || s.antialias) && (at < 0 || at >= a.from)) {
      if (s.exclude_outside) weight = 0;
    }
    out.places.push_back(std::clamp<std::int64_t>(at, 0, a.from - 1));
    out.weights.push_back(weight);
    total += weight;
  }
  if (s.exclude_outside || s.antialias) {
    for (double& weight : out.weights) weight /= total;
  }
  return out;
}

/// x with the elements of an axis multiplied by (to,) numbers.
Value times_along(const Value& x, std::int64_t axis, const std::vector<double>& numbers) {
  Shape shape(x.shape().size(), 1);
  shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(numbers.size());
  return x * Value(Tensor(shape, numbers).cast(DType::float32)).across_border();
}

/// Sum of weighted elements: one `take` for each tap.
Value interpolated(const ResizeSettings& s, const ResizedAxis& a, const Value& x, std::int64_t axis) {
  std::vector<Taps> taps;
  std::size_t most = 0;
  for (std::int64_t i = 0; i < a.to; ++i) {
    taps.push_back(taps_at(s, a, position_of(s, a, static_cast<double>(i))));
    most = std::max(most, taps.back().places.size());
  }
  Value out;
  for (std::size_t tap = 0; tap < most; ++tap) {
    std::vector<std::int64_t> places;
    std::vector<double> weights;
    for (const Taps& one : taps) {
      places.push_back(tap < one.places.size() ? one.places[tap] : 0);
      weights.push_back(tap < one.places.size() ? one.weights[tap] : 0);
    }
    const Value part = times_along(take(x, int64_vector(places), axis), axis, weights);
    out = out.defined() ? out + part : part;
  }
  return out;
}

/// Puts the value for positions outside of the input.
Value with_outside(const ResizeSettings& s, const ResizedAxis& a, const Value& y, std::int64_t axis) {
  if (s.positions != "tf_crop_and_resize") return y;
  Shape shape(y.shape().size(), 1);
  shape[static_cast<std::size_t>(axis)] = a.to;
  Tensor inside(shape, DType::boolean);
  for (std::int64_t i = 0; i < a.to; ++i) {
    const double x = position_of(s, a, static_cast<double>(i));
    inside.mutable_data<bool>()[i] = x >= 0 && x <= static_cast<double>(a.from - 1);
  }
  return where(Value(inside), y, s.outside_value);
}

Value resized(const ResizeSettings& s, const ResizedAxis& a, const Value& x, std::int64_t axis) {
  if (s.mode != "nearest") return with_outside(s, a, interpolated(s, a, x, axis), axis);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < a.to; ++i) {
    const std::int64_t at = nearest_place(s, position_of(s, a, static_cast<double>(i)));
    places.push_back(std::clamp<std::int64_t>(at, 0, a.from - 1));
  }
  return with_outside(s, a, take(x, int64_vector(places), axis), axis);
}

void check_settings(const OnnxCall& call, const ResizeSettings& s) {
  const auto is_one = [](const std::string& name, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
  };
  if (!is_one(s.mode, {"nearest", "linear", "cubic"})) {
    call.refuse("unknown mode \"{}\"; valid names: nearest, linear, cubic", s.mode);
  }
  if (!is_one(s.positions, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                            "tf_half_pixel_for_nn", "tf_crop_and_resize"})) {
    call.refuse("coordinate_transformation_mode \"{}\" isn't supported", s.positions);
  }
  if (!is_one(s.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) {
    call.refuse("nearest_mode \"{}\" isn't supported", s.nearest);
  }
}

void put_resized(OnnxCall& call, const ResizeSettings& s, const std::vector<ResizedAxis>& axes) {
  check_settings(call, s);
  const std::size_t rank = call.rank(0);
  Shape whole = call.shape(0);
  bool spatial = rank > 2;
  for (const ResizedAxis& a : axes) {
    if (a.from < 1 || a.to < 1) call.refuse("axis {} must have elements; got size {} for {}", a.axis, a.to, a.from);
    whole[a.axis] = a.to;
    spatial = spatial && (a.axis > 1 || a.from == a.to);
  }
  check_onnx_size(call, whole);
  const bool integers = !is_floating(call.dtype(0));
  Value x = spatial ? call.in_last(0) : call.in(0);
  if (integers && s.mode != "nearest") x = cast(x, DType::float32);
  for (const ResizedAxis& a : axes) {
    if (a.from == a.to && a.scale == 1 && s.positions != "tf_crop_and_resize") continue;
    const auto axis = static_cast<std::int64_t>(a.axis);
    x = resized(s, a, x, spatial ? axis_with_channels_last(axis, rank) : axis);
  }
  if (integers && s.mode != "nearest") x = cast(x, call.dtype(0));
  if (spatial) return call.put_last(x);
  call.put(x);
}

void run_upsample(OnnxCall& call) {
  ResizeSettings s{.mode = call.text("mode", "nearest"), .positions = "asymmetric", .nearest = "floor"};
  const std::vector<double> scales =
      call.opset() < 9 ? call.numbers_of("scales") : call.numbers(1, "scales").to_doubles();
  const Shape shape = call.shape(0);
  if (scales.size() != shape.size()) call.refuse("scales must have {} numbers; got {}", shape.size(), scales.size());
  std::vector<ResizedAxis> axes;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (!(scales[i] > 0 && scales[i] < 1e6)) call.refuse("scales must be from 0 to 10^6; got {}", scales[i]);
    axes.push_back(
        {i, shape[i], static_cast<std::int64_t>(std::floor(static_cast<double>(shape[i]) * scales[i])), scales[i]});
  }
  if (s.mode == "bilinear" || s.mode == "trilinear") s.mode = "linear";
  put_resized(call, s, axes);
}

/// Scales for sizes: keep_aspect_ratio_policy chooses one scale for all axes.
void set_sizes(OnnxCall& call, std::vector<ResizedAxis>& axes, const std::vector<std::int64_t>& sizes) {
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  double common = policy == "not_larger" ? 1e30 : 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 1) call.refuse("sizes must be at least 1; got {}", sizes[i]);
    axes[i].to = sizes[i];
    axes[i].scale = static_cast<double>(sizes[i]) / static_cast<double>(axes[i].from);
    common = policy == "not_larger" ? std::min(common, axes[i].scale) : std::max(common, axes[i].scale);
  }
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller") call.refuse("unknown keep_aspect_ratio_policy \"{}\"", policy);
  for (ResizedAxis& a : axes) {
    a.scale = common;
    a.to = static_cast<std::int64_t>(std::floor(common * static_cast<double>(a.from) + 0.5));
  }
}

void run_resize(OnnxCall& call) {
  const bool first = call.opset() < 11;
  ResizeSettings s{.mode = call.text("mode", "nearest"),
                   .positions = call.text("coordinate_transformation_mode", first ? "asymmetric" : "half_pixel"),
                   .nearest = call.text("nearest_mode", first ? "floor" : "round_prefer_floor"),
                   .cubic = call.number("cubic_coeff_a", -0.75),
                   .outside_value = call.number("extrapolation_value", 0),
                   .exclude_outside = call.integer("exclude_outside", 0) != 0,
                   .antialias = call.integer("antialias", 0) != 0};
  const Shape shape = call.shape(0);
  std::vector<ResizedAxis> axes;
  const Shape along = call.integers("axes");
  for (std::size_t i = 0; i < (along.empty() ? shape.size() : along.size()); ++i) {
    const std::size_t axis =
        along.empty() ? i : static_cast<std::size_t>(normalize_axis(along[i], shape.size(), call.where()));
    axes.push_back({axis, shape[axis], shape[axis]});
  }
  const std::size_t count = axes.size(), scales_at = first ? 1 : 2;
  if (s.positions == "tf_crop_and_resize") {
    const std::vector<double> roi = call.has(1) ? call.numbers(1, "roi").to_doubles() : std::vector<double>{};
    if (roi.size() != 2 * count) call.refuse("roi must have {} numbers; got {}", 2 * count, roi.size());
    for (std::size_t i = 0; i < count; ++i) {
      axes[i].begin = roi[i];
      axes[i].end = roi[i + count];
    }
  }
  const bool sized = !first && call.has(3) && !call.shape(3).empty() && call.shape(3)[0] > 0;
  call.text("keep_aspect_ratio_policy", "stretch");
  if (sized) {
    const std::vector<std::int64_t> sizes = call.ints(3, "sizes");
    if (sizes.size() != count) call.refuse("sizes must have {} numbers; got {}", count, sizes.size());
    set_sizes(call, axes, sizes);
    return put_resized(call, s, axes);
  }
  const std::vector<double> scales = call.numbers(scales_at, "scales").to_doubles();
  if (scales.size() != count) call.refuse("scales must have {} numbers; got {}", count, scales.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!(scales[i] > 0 && scales[i] < 1e6)) call.refuse("scales must be from 0 to 10^6; got {}", scales[i]);
    axes[i].scale = scales[i];
    axes[i].to =
        static_cast<std::int64_t>(std::floor(static_cast<double>(axes[i].from) * scales[i] *
                                             (s.positions == "tf_crop_and_resize" ? axes[i].end - axes[i].begin : 1)));
  }
  put_resized(call, s, axes);
}

}  // namespace

void add_onnx_resize(OnnxOperators& table) {
  table["Resize"] = {.run = run_resize, .least = 1, .most = 4};
  table["Upsample"] = {.run = run_upsample, .least = 1, .most = 2};
}

}  // namespace mezzo::detail
