#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/numpy.hpp>

// Reductions that leave NaN out, and further statistics: compositions.
namespace mezzo {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// x with `number` in place of NaN.
Value without_nan(const Value& x, double number) { return is_floating(x.dtype()) ? where(isnan(x), number, x) : x; }

/// Number of elements along the axes that are not NaN, in the dtype of x, which is floating.
Value numbers_along(const Value& x, const Shape& axes, bool keepdims) {
  return cast(sum(cast(logical_not(isnan(x)), DType::int64), {axes, keepdims}), x.dtype());
}

Value extreme_without_nan(const Value& x, const ReduceOptions& options, bool largest) {
  if (!is_floating(x.dtype())) return largest ? max(x, options) : min(x, options);
  const Value found = largest ? max(without_nan(x, -infinite), options) : min(without_nan(x, infinite), options);
  return where(all(isnan(x), options), not_a_number, found);
}

Value place_without_nan(const Value& x, std::optional<std::int64_t> axis, bool largest) {
  const Value line = axis ? x : reshape(x, {-1});
  const std::int64_t along = axis.value_or(0);
  if (!is_floating(x.dtype())) return largest ? argmax(line, along) : argmin(line, along);
  const Value found =
      largest ? argmax(without_nan(line, -infinite), along) : argmin(without_nan(line, infinite), along);
  return where(all(isnan(line), {{along}}), Tensor({}, std::vector<std::int64_t>{-1}), found);
}

struct MeanAndVariance {
  Value mean, variance;
};

MeanAndVariance statistics_without_nan(const Value& wide, const ReduceOptions& options) {
  const Value count = numbers_along(wide, options.axes, true);
  const Value center = sum(without_nan(wide, 0), {options.axes, true}) / count;
  const Value distance = without_nan(wide - center, 0);
  return {sum(without_nan(wide, 0), options) / numbers_along(wide, options.axes, options.keepdims),
          sum(distance * distance, options) / numbers_along(wide, options.axes, options.keepdims)};
}

/// Quantiles of the numbers of each line; their count differs from line to line.
Value quantile_without_nan(const Value& x, const std::vector<double>& qs, const QuantileOptions& options,
                           const char* name, bool several) {
  const std::string where_called = current_label(name);
  const std::string& method = options.method;
  const Shape axes = detail::normalize_axes(options.axes, x.shape().size(), where_called);
  const std::vector<std::string> methods{"linear", "lower", "higher", "midpoint", "nearest"};
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
    fail<NameError>(where_called, "unknown method \"{}\"; valid names: linear, lower, higher, midpoint, nearest",
                    method);
  }
  if (qs.empty()) fail<ValueError>(where_called, "needs at least one q; got none");
  Shape order, kept, result;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(x.shape().size()); ++axis) {
    const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)];
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!reduced) order.push_back(axis);
    if (!reduced) kept.push_back(size);
    if (!reduced || options.keepdims) result.push_back(reduced ? 1 : size);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  const std::int64_t length = detail::count_along(x.shape(), axes);
  if (length < 1) fail<ShapeError>(where_called, "needs an element along the axes; got shape {}", x.shape());
  kept.push_back(length);
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Value lines = sort(reshape(transpose(wide, order), kept), -1);
  const Value count = numbers_along(lines, {-1}, true), last = maximum(count - 1, 0.0);
  Values parts;
  for (const double q : qs) {
    if (!(q >= 0 && q <= 1)) fail<ValueError>(where_called, "q must be in [0, 1]; got {}", q);
    Value place = last * q;
    if (method == "lower") place = floor(place);
    if (method == "higher") place = ceil(place);
    if (method == "nearest") place = ceil(place - 0.5);  // as JAX: of two equally near, the lower
    const Value low = floor(place), high = minimum(low + 1, last);
    const Value share = method == "midpoint" ? where(place > low, 0.5, 0.0) * ones_like(place) : place - low;
    const auto at = [&](const Value& index) {
      return take_along_axis(lines, cast(stop_gradient(index), DType::int64), -1);
    };
    const Value first = at(low), second = at(high);
    const Value mixed = where(share > 0, first * (1 - share) + second * share, first);
    parts.push_back(detail::as(reshape(where(count > 0, mixed, not_a_number), result), narrow));
  }
  return several ? stack(parts) : parts[0];
}

}  // namespace

Value nansum(const Value& x, const ReduceOptions& options) { return sum(without_nan(x, 0), options); }

Value nanprod(const Value& x, const ReduceOptions& options) { return prod(without_nan(x, 1), options); }

Value nanmax(const Value& x, const ReduceOptions& options) { return extreme_without_nan(x, options, true); }

Value nanmin(const Value& x, const ReduceOptions& options) { return extreme_without_nan(x, options, false); }

Value nanmean(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Value total = sum(without_nan(wide, 0), options);
  return detail::as(total / numbers_along(wide, options.axes, options.keepdims), narrow);
}

Value nanvar(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  return detail::as(statistics_without_nan(wide, options).variance, narrow);
}

Value nanstd(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  return detail::as(sqrt(statistics_without_nan(wide, options).variance), narrow);
}

Value nanargmax(const Value& x, std::optional<std::int64_t> axis) { return place_without_nan(x, axis, true); }

Value nanargmin(const Value& x, std::optional<std::int64_t> axis) { return place_without_nan(x, axis, false); }

Value nanquantile(const Value& x, double q, const QuantileOptions& options) {
  return quantile_without_nan(x, {q}, options, "nanquantile", false);
}

Value nanquantile(const Value& x, const std::vector<double>& q, const QuantileOptions& options) {
  return quantile_without_nan(x, q, options, "nanquantile", true);
}

Value nanpercentile(const Value& x, double q, const QuantileOptions& options) {
  return quantile_without_nan(x, {q / 100}, options, "nanpercentile", false);
}

Value nanmedian(const Value& x, const ReduceOptions& options) {
  QuantileOptions middle;
  middle.axes = options.axes;
  middle.keepdims = options.keepdims;
  return quantile_without_nan(x, {0.5}, middle, "nanmedian", false);
}

Value nancumsum(const Value& x, std::optional<std::int64_t> axis) { return cumsum(without_nan(x, 0), axis); }

Value nancumprod(const Value& x, std::optional<std::int64_t> axis) { return cumprod(without_nan(x, 1), axis); }

Moments moments(const Value& x, const ReduceOptions& options) { return {mean(x, options), var(x, options)}; }

Value allclose(const Value& x1, const Value& x2, double rtol, double atol, bool equal_nan) {
  IsCloseOptions options;
  options.rtol = rtol;
  options.atol = atol;
  options.equal_nan = equal_nan;
  return all(isclose(x1, x2, options));
}

Value corrcoef(const Value& x) {
  if (x.shape().empty() || x.shape().size() > 2) {
    fail<ShapeError>(current_label("corrcoef"), "x must be (rows, observations) or a vector; got shape {}", x.shape());
  }
  DType narrow{};
  const Value wide = detail::as_wide(x.shape().size() == 1 ? expand_dims(x, 0) : x, narrow);
  const Value distance = wide - mean(wide, {{1}, true});
  const Value products = matmul(distance, transpose(distance));
  const Value deviations = sqrt(diagonal(products));
  const Value out = clip(products / expand_dims(deviations, 1) / expand_dims(deviations, 0), -1.0, 1.0);
  return detail::as(x.shape().size() == 1 ? reshape(out, {}) : out, narrow);
}

Value cdist(const Value& x, const Value& y) {
  const std::size_t rank = x.shape().size();
  if (rank < 2 || y.shape().size() < 2 || x.shape().back() != y.shape().back()) {
    fail<ShapeError>(current_label("cdist"), "x must be (..., M, D) and y (..., N, D); got {} and {}", x.shape(),
                     y.shape());
  }
  DType narrow{}, of_y{};
  const Value a = detail::as_wide(x, narrow), b = detail::as_wide(y, of_y);
  const Value distance = expand_dims(a, -2) - expand_dims(b, -3);
  const Value squares = sum(distance * distance, {{-1}});
  const Value apart = squares > 0;
  return detail::as(where(apart, sqrt(where(apart, squares, 1.0)), 0.0), promote(narrow, of_y));
}

Value psnr(const Value& x1, const Value& x2, double max_val) {
  if (x1.shape() != x2.shape()) {
    fail<ShapeError>(current_label("psnr"), "x1 and x2 must have one shape; got {} and {}", x1.shape(), x2.shape());
  }
  DType narrow{}, other{};
  const Value distance = detail::as_wide(x1, narrow) - detail::as_wide(x2, other);
  return detail::as(20 * std::log10(max_val) - 10 * log10(mean(distance * distance)), promote(narrow, other));
}

Value rms_normalization(const Value& x, const Value& scale, std::int64_t axis, std::optional<double> epsilon) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Value squares = mean(wide * wide, {{axis}, true});
  return detail::as(wide * rsqrt(squares + epsilon.value_or(1e-7)) * scale, narrow);
}

Value isreal(const Value& x) { return ones_like(x, DType::boolean); }

Value convert_to_tensor(const Value& x, std::optional<DType> dtype) {
  return detail::as(
      x.weak() && !dtype ? Value(x.tensor().cast(is_floating(x.dtype()) ? DType::float32 : DType::int32)) : x,
      dtype.value_or(x.weak() ? (is_floating(x.dtype()) ? DType::float32 : DType::int32) : x.dtype()));
}

}  // namespace mezzo
