#include <algorithm>
#include <cmath>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/sorting.hpp>

// Quantiles of keras.ops, of all elements and of those that are not NaN.
namespace mezzo {
namespace {

/// x with normalized axes as one last axis.
Value with_lines(const Value& x, const Shape& axes) {
  Shape order, shape;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(x.shape().size()); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    order.push_back(axis);
    shape.push_back(x.shape()[static_cast<std::size_t>(axis)].or_unknown());
  }
  order.insert(order.end(), axes.begin(), axes.end());
  shape.push_back(detail::count_along(x.shape(), axes));
  return reshape(std::is_sorted(order.begin(), order.end()) ? x : transpose(x, order), shape);
}

/// Sorted lines of x, with NaN at their ends.
class Quantiles {
 public:
  Quantiles(const Value& x, const QuantileOptions& options, const char* name) : where_(detail::current_label(name)) {
    const Shape axes = detail::normalize_axes(options.axes, x.shape().size(), where_);
    shape_ = detail::reduced_shape(x, axes, options.keepdims);
    const Value lines = with_lines(detail::as_wide(x, narrow_), axes);
    count_ = lines.shape().back();
    if (count_ < 1) fail<ShapeError>(where_, "needs an element along the axes; got shape {}", x.shape());
    sorted_ = sort(lines, -1);
    method_ = options.method;
    for (const char* valid : {"linear", "lower", "higher", "midpoint", "nearest"}) {
      if (method_ == valid) return;
    }
    fail_unknown(where_, "method", method_, {"linear", "lower", "higher", "midpoint", "nearest"});
  }

  /// NaN for a line with NaN. The elements are at fixed places.
  Value at(double q) const {
    check(q);
    double place = q * static_cast<double>(count_ - 1);
    if (method_ == "lower") place = std::floor(place);
    if (method_ == "higher") place = std::ceil(place);
    if (method_ == "nearest") place = std::ceil(place - 0.5);  // as in JAX: ties take the lower one
    const double low = std::floor(place);
    const double part = method_ == "midpoint" && place != low ? 0.5 : place - low;
    Value out = element(static_cast<std::int64_t>(low));
    if (part > 0) out = out * (1 - part) + element(static_cast<std::int64_t>(low) + 1) * part;
    const Value last = element(count_ - 1);  // NaN if there is one
    return result(mezzo::where(equal(last, last), out, last));
  }

  /// Leaves NaN out: the number of elements, and with it their places, differ from line to line.
  Value at_without_nan(double q) const {
    check(q);
    const Value numbers = cast(logical_not(isnan(sorted_)), DType::int64);
    const Value count = cast(sum(numbers, {{-1}, true}), sorted_.dtype()), last = maximum(count - 1, 0.0);
    Value place = last * q;
    if (method_ == "lower") place = floor(place);
    if (method_ == "higher") place = ceil(place);
    if (method_ == "nearest") place = ceil(place - 0.5);
    const Value low = floor(place), high = minimum(low + 1, last);
    const Value part = method_ == "midpoint" ? mezzo::where(place > low, 0.5, 0.0) * ones_like(place) : place - low;
    const Value first = element(low), second = element(high);
    const Value mixed = mezzo::where(part > 0, first * (1 - part) + second * part, first);
    return result(mezzo::where(count > 0, mixed, std::nan("")));
  }

  /// at() or at_without_nan() of each q, stacked.
  Value at_each(const std::vector<double>& qs, Value (Quantiles::*of)(double) const) const {
    if (qs.empty()) fail<ValueError>(where_, "needs at least one q; got none");
    Values parts;
    for (const double q : qs) parts.push_back((this->*of)(q));
    return stack(parts);
  }

 private:
  void check(double q) const {
    if (!(q >= 0 && q <= 1)) fail<ValueError>(where_, "q must be in [0, 1]; got {}", q);
  }

  Value element(std::int64_t i) const {
    Shape starts(sorted_.shape().size(), 0), sizes(sorted_.shape().size(), -1);
    starts.back() = i;
    sizes.back() = 1;
    return slice(sorted_, {starts, sizes});
  }
  Value element(const Value& indices) const {
    return take_along_axis(sorted_, cast(stop_gradient(indices), DType::int64), -1);
  }

  Value result(const Value& x) const { return detail::as(reshape(x, shape_), narrow_); }

  std::string where_, method_;
  DType narrow_{};
  Shape shape_;
  std::int64_t count_ = 0;
  Value sorted_;
};

QuantileOptions middle_of(const ReduceOptions& options) {
  QuantileOptions middle;
  middle.axes = options.axes;
  middle.keepdims = options.keepdims;
  return middle;
}

}  // namespace

Value quantile(const Value& x, double q, const QuantileOptions& options) {
  return Quantiles(x, options, "quantile").at(q);
}

Value quantile(const Value& x, const std::vector<double>& q, const QuantileOptions& options) {
  return Quantiles(x, options, "quantile").at_each(q, &Quantiles::at);
}

Value percentile(const Value& x, double q, const QuantileOptions& options) { return quantile(x, q / 100, options); }

Value median(const Value& x, const ReduceOptions& options) {
  return Quantiles(x, middle_of(options), "median").at(0.5);
}

Value nanquantile(const Value& x, double q, const QuantileOptions& options) {
  return Quantiles(x, options, "nanquantile").at_without_nan(q);
}

Value nanquantile(const Value& x, const std::vector<double>& q, const QuantileOptions& options) {
  return Quantiles(x, options, "nanquantile").at_each(q, &Quantiles::at_without_nan);
}

Value nanpercentile(const Value& x, double q, const QuantileOptions& options) {
  return Quantiles(x, options, "nanpercentile").at_without_nan(q / 100);
}

Value nanmedian(const Value& x, const ReduceOptions& options) {
  return Quantiles(x, middle_of(options), "nanmedian").at_without_nan(0.5);
}

}  // namespace mezzo
