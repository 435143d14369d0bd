#include <cmath>
#include <limits>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/flat_sqrt.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/linalg.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/reductions.hpp>

// Statistics and norms, composed of other ops in the accumulation dtype and rounded once.
namespace mezzo {
namespace {

Shape axes_of(const Value& x, const Shape& axes, const char* name) {
  return detail::normalize_axes(axes, x.shape().size(), detail::current_label(name));
}

constexpr double negative_power_of_zero = std::numeric_limits<double>::infinity();

/// x^(1 / p) for x >= 0. The gradient at 0 is 0.
Value root(const Value& x, double p) {
  if (p == 2) return detail::flat_sqrt(x);
  const Value zero = equal(x, 0);
  return where(zero, p > 0 ? 0.0 : negative_power_of_zero, power(where(zero, 1.0, x), 1 / p));
}

/// x^p for x >= 0. The gradient at 0 is 0, also for p < 1.
Value flat_power(const Value& x, double p) {
  if (p >= 1) return power(x, p);
  const Value zero = equal(x, 0);
  return where(zero, p > 0 ? 0.0 : negative_power_of_zero, power(where(zero, 1.0, x), p));
}

Value vector_norm(const Value& x, double p, const ReduceOptions& options) {
  const Value magnitude = abs(x);
  if (std::isinf(p)) return p > 0 ? max(magnitude, options) : min(magnitude, options);
  if (p == 0) return cast(sum(cast(x, DType::boolean), options), x.dtype());
  if (p == 1) return sum(magnitude, options);
  if (p == 2) return root(sum(x * x, options), 2);
  return root(sum(flat_power(magnitude, p), options), p);
}

Value matrix_norm(const Value& x, const detail::NormOrder& order, const Shape& axes, const std::string& where) {
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
  return reshape(out, detail::reduced_shape(x, axes, true));
}

}  // namespace

Value detail::flat_sqrt(const Value& x) {
  const Value zero = equal(x, 0);
  return where(zero, 0.0, sqrt(where(zero, 1.0, x)));
}

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
  return detail::as(sums + reshape(shift, detail::reduced_shape(x, axes, options.keepdims)), narrow);
}

Value average(const Value& x, const AverageOptions& options) {
  if (!options.weights.defined()) return mean(x, {options.axes});
  const std::string label = detail::current_label("average");
  const Shape axes = axes_of(x, options.axes, "average");
  Value weights = options.weights;
  if (weights.shape() != x.shape()) {
    Shape line(x.shape().size(), 1);
    if (axes.size() == 1)
      line[static_cast<std::size_t>(axes[0])] = x.shape()[static_cast<std::size_t>(axes[0])].or_unknown();
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

Value norm(const Value& x, const NormOptions& options) {
  const std::string label = detail::current_label("norm");
  const detail::NormOrder& order = options.ord;
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
    pair[i] = detail::normalize_axis(options.axes[i], x.shape().size(), label);
  }
  const Value out = matrix_norm(wide, order, pair, label);
  return detail::as(options.keepdims ? out : reshape(out, detail::reduced_shape(x, axes, false)), narrow);
}

Value normalize(const Value& x, std::int64_t axis, double order, std::optional<double> epsilon) {
  if (!(order >= 1)) fail<ValueError>(detail::current_label("normalize"), "order must be at least 1; got {}", order);
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

Moments moments(const Value& x, const ReduceOptions& options) { return {mean(x, options), var(x, options)}; }

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

}  // namespace mezzo
