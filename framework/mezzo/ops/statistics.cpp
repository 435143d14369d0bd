#include <algorithm>
#include <cmath>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

// Statistics and norms, composed of other ops in the accumulation dtype and rounded once.
namespace mezzo {
namespace {

Shape axes_of(const Value& x, const Shape& axes, const char* name) {
  return detail::normalize_axes(axes, x.shape().size(), current_label(name));
}

/// x^(1 / p) for x >= 0
Value root(const Value& x, double p) { return p == 2 ? sqrt(x) : power(x, 1 / p); }

/// x with normalized axes as one last axis.
Value with_lines(const Value& x, const Shape& axes) {
  Shape order, shape;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(x.shape().size()); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    order.push_back(axis);
    shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  shape.push_back(detail::count_along(x.shape(), axes));
  return reshape(std::is_sorted(order.begin(), order.end()) ? x : transpose(x, order), shape);
}

/// Shape of a reduction of x.
Shape reduced_shape(const Value& x, const Shape& axes, bool keepdims) {
  const Attributes attributes{{"axes", axes}, {"keepdims", keepdims}};
  return detail::infer_reduction({{{x.shape(), x.dtype()}}, attributes, ""}).front().shape;
}

/// Quantiles of sorted lines, at fixed places between two elements.
class Quantiles {
 public:
  Quantiles(const Value& x, const QuantileOptions& options, const char* name) : where_(current_label(name)) {
    const Shape axes = axes_of(x, options.axes, name);
    shape_ = reduced_shape(x, axes, options.keepdims);
    const Value lines = with_lines(detail::as_wide(x, narrow_), axes);
    count_ = lines.shape().back();
    if (count_ < 1) fail<ShapeError>(where_, "needs an element along the axes; got shape {}", x.shape());
    sorted_ = sort(lines, -1);
    method_ = options.method;
    for (const char* valid : {"linear", "lower", "higher", "midpoint", "nearest"}) {
      if (method_ == valid) return;
    }
    fail<NameError>(where_, "unknown method \"{}\"; valid names: linear, lower, higher, midpoint, nearest", method_);
  }

  Value at(double q) const {
    if (!(q >= 0 && q <= 1)) fail<ValueError>(where_, "q must be in [0, 1]; got {}", q);
    double place = q * static_cast<double>(count_ - 1);
    if (method_ == "lower") place = std::floor(place);
    if (method_ == "higher") place = std::ceil(place);
    if (method_ == "nearest") place = std::ceil(place - 0.5);  // as JAX: of two equally near, the lower
    const double low = std::floor(place);
    const double part = method_ == "midpoint" && place != low ? 0.5 : place - low;
    Value out = element(static_cast<std::int64_t>(low));
    if (part > 0) out = out * (1 - part) + element(static_cast<std::int64_t>(low) + 1) * part;
    const Value last = element(count_ - 1);  // NaN if there is one
    return detail::as(reshape(mezzo::where(equal(last, last), out, last), shape_), narrow_);
  }

 private:
  Value element(std::int64_t i) const {
    Shape starts(sorted_.shape().size(), 0), sizes(sorted_.shape().size(), -1);
    starts.back() = i;
    sizes.back() = 1;
    return slice(sorted_, {starts, sizes});
  }

  std::string where_, method_;
  DType narrow_{};
  Shape shape_;
  std::int64_t count_ = 0;
  Value sorted_;
};

Value vector_norm(const Value& x, double p, const ReduceOptions& options) {
  const Value magnitude = abs(x);
  if (std::isinf(p)) return p > 0 ? max(magnitude, options) : min(magnitude, options);
  if (p == 0) return cast(sum(cast(x, DType::boolean), options), x.dtype());
  if (p == 1) return sum(magnitude, options);
  if (p == 2) return root(sum(x * x, options), 2);
  return root(sum(power(magnitude, p), options), p);
}

Value matrix_norm(const Value& x, const NormOrder& order, const Shape& axes, const std::string& where) {
  const std::int64_t rows = axes[0], columns = axes[1];
  if (order.name() == "fro") return root(sum(x * x, {axes, true}), 2);
  const double p = order.number().value_or(0);
  if (std::abs(p) == 1 || std::isinf(p)) {
    const bool by_column = std::abs(p) == 1;
    const Value sums = sum(abs(x), {{by_column ? rows : columns}, true});
    const ReduceOptions others{{by_column ? columns : rows}, true};
    return p > 0 ? max(sums, others) : min(sums, others);
  }
  if (order.name() != "nuc" && std::abs(p) != 2) {
    fail<ValueError>(where, "ord of a matrix must be \"fro\", \"nuc\", 1, -1, 2, -2 or infinite; got {}", p);
  }
  const Value s = svd(moveaxis(x, {rows, columns}, {-2, -1}), false).s;
  const Value out = order.name() == "nuc" ? sum(s, {{-1}}) : p > 0 ? max(s, {{-1}}) : min(s, {{-1}});
  return reshape(out, reduced_shape(x, axes, true));
}

}  // namespace

Value var(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Value distance = wide - mean(wide, {axes_of(x, options.axes, "var"), true});
  return detail::as(mean(distance * distance, options), narrow);
}

Value std(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  return detail::as(root(var(wide, options), 2), narrow);
}

Value logsumexp(const Value& x, const ReduceOptions& options) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Shape axes = axes_of(x, options.axes, "logsumexp");
  const std::int64_t count = detail::count_along(x.shape(), axes);
  if (count == 0) return detail::as(log(sum(exp(wide), options)), narrow);
  const Value largest = stop_gradient(max(wide, {axes, true}));
  const Value shift = where(equal(largest - largest, 0.0), largest, 0.0);  // only a finite number
  const Value sums = log(sum(exp(wide - shift), options));
  return detail::as(sums + reshape(shift, reduced_shape(x, axes, options.keepdims)), narrow);
}

Value average(const Value& x, const AverageOptions& options) {
  if (!options.weights.defined()) return mean(x, {options.axes});
  const std::string label = current_label("average");
  const Shape axes = axes_of(x, options.axes, "average");
  Value weights = options.weights;
  if (weights.shape() != x.shape()) {
    Shape line(x.shape().size(), 1);
    if (axes.size() == 1) line[static_cast<std::size_t>(axes[0])] = x.shape()[static_cast<std::size_t>(axes[0])];
    if (axes.size() != 1 || weights.shape() != Shape{line[static_cast<std::size_t>(axes[0])]}) {
      fail<ShapeError>(label, "weights must have x's shape {}, or one axis for one of x; got {}", x.shape(),
                       weights.shape());
    }
    weights = reshape(weights, line);
  }
  DType narrow{}, of_weights{};
  const Value wide = detail::as_wide(x, narrow), factors = detail::as_wide(weights, of_weights);
  const Value total = sum(broadcast_to(factors, x.shape()), {axes});
  return detail::as(sum(wide * factors, {axes}) / total, narrow);
}

Value quantile(const Value& x, double q, const QuantileOptions& options) {
  return Quantiles(x, options, "quantile").at(q);
}

Value quantile(const Value& x, const std::vector<double>& q, const QuantileOptions& options) {
  const Quantiles quantiles(x, options, "quantile");
  if (q.empty()) fail<ValueError>(current_label("quantile"), "needs at least one q; got none");
  Values parts;
  for (const double each : q) parts.push_back(quantiles.at(each));
  return stack(parts);
}

Value percentile(const Value& x, double q, const QuantileOptions& options) { return quantile(x, q / 100, options); }

Value median(const Value& x, const ReduceOptions& options) {
  QuantileOptions middle;
  middle.axes = options.axes;
  middle.keepdims = options.keepdims;
  return Quantiles(x, middle, "median").at(0.5);
}

Value norm(const Value& x, const NormOptions& options) {
  const std::string label = current_label("norm");
  const NormOrder& order = options.ord;
  const Shape axes = axes_of(x, options.axes, "norm");
  if (!order.name().empty() && order.name() != "fro" && order.name() != "nuc") {
    fail<ValueError>(label, "ord must be a number, \"fro\" or \"nuc\"; got \"{}\"", order.name());
  }
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const bool any_order = order.name().empty() && !order.number();
  if (any_order) return detail::as(root(sum(wide * wide, {axes, options.keepdims}), 2), narrow);
  if (axes.size() == 1 && order.number()) {
    return detail::as(vector_norm(wide, *order.number(), {axes, options.keepdims}), narrow);
  }
  if (axes.size() != 2) {
    fail<ValueError>(label, "ord needs 1 axis, or 2 for a matrix norm; got axes {} of {}", detail::numbers_text(axes),
                     x.shape());
  }
  Shape pair = axes;  // in the order given, rows first
  for (std::size_t i = 0; i < options.axes.size(); ++i) {
    pair[i] = normalize_axis(options.axes[i], x.shape().size(), label);
  }
  const Value out = matrix_norm(wide, order, pair, label);
  return detail::as(options.keepdims ? out : reshape(out, reduced_shape(x, axes, false)), narrow);
}

Value normalize(const Value& x, std::int64_t axis, double order, std::optional<double> epsilon) {
  if (!(order >= 1)) fail<ValueError>(current_label("normalize"), "order must be at least 1; got {}", order);
  const double least = epsilon.value_or(1e-7);
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  if (order == 2) {  // clamped before the root, so that vectors of zeros have a finite gradient
    const Value squares = sum(wide * wide, {{axis}, true});
    return detail::as(wide * rsqrt(maximum(squares, least * least)), narrow);
  }
  const Value length = vector_norm(wide, order, {{axis}, true});
  return detail::as(wide / maximum(length, least), narrow);
}

}  // namespace mezzo
