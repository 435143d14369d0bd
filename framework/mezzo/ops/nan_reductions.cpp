#include <cmath>
#include <limits>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/flat_sqrt.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/products.hpp>

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

/// Mean of the numbers of x, which is floating.
Value mean_without_nan(const Value& x, const ReduceOptions& options) {
  return sum(without_nan(x, 0), options) / numbers_along(x, options.axes, options.keepdims);
}

Value variance_without_nan(const Value& x, const ReduceOptions& options) {
  const Value distance = without_nan(x - mean_without_nan(x, {options.axes, true}), 0);
  return sum(distance * distance, options) / numbers_along(x, options.axes, options.keepdims);
}

}  // namespace

Value nansum(const Value& x, const ReduceOptions& options) { return sum(without_nan(x, 0), options); }

Value nanprod(const Value& x, const ReduceOptions& options) { return prod(without_nan(x, 1), options); }

Value nanmax(const Value& x, const ReduceOptions& options) { return extreme_without_nan(x, options, true); }

Value nanmin(const Value& x, const ReduceOptions& options) { return extreme_without_nan(x, options, false); }

Value nanmean(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  return detail::as(mean_without_nan(wide, options), narrow);
}

Value nanvar(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  return detail::as(variance_without_nan(wide, options), narrow);
}

Value nanstd(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  return detail::as(detail::flat_sqrt(variance_without_nan(wide, options)), narrow);
}

Value nanargmax(const Value& x, std::optional<std::int64_t> axis) { return place_without_nan(x, axis, true); }

Value nanargmin(const Value& x, std::optional<std::int64_t> axis) { return place_without_nan(x, axis, false); }

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
    fail<ShapeError>(detail::current_label("corrcoef"), "x must be (rows, observations) or a vector; got shape {}",
                     x.shape());
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
    fail<ShapeError>(detail::current_label("cdist"), "x must be (..., M, D) and y (..., N, D); got {} and {}",
                     x.shape(), y.shape());
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
    fail<ShapeError>(detail::current_label("psnr"), "x1 and x2 must have one shape; got {} and {}", x1.shape(),
                     x2.shape());
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
