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

// Reductions that leave NaN out: compositions.
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

}  // namespace mezzo
