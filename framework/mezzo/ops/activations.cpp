#include <mezzo/ops/activations.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/listed.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// alpha (exp(x / scale) - 1) where x <= 0, else x. Positive numbers don't enter exp, whose overflow would make the
/// gradient NaN.
Value exponential_below_0(const Value& x, double alpha, double scale) {
  const Value positive = greater(x, 0);
  const Value below = where(positive, 0.0, x);
  return where(positive, x, expm1(scale == 1 ? below : below / scale) * alpha);
}

// y = max(x - t, 0) has dx = g - mean of g over the support, inside of the support; 0 elsewhere.
Values sparsemax_gradient(const GradientContext& context) {
  const Value &g = context.cotangent(), &y = context.output();
  const Shape axes{context.attributes().get<std::int64_t>("axis")};
  const DType wide = accumulation_dtype(y.dtype());
  const Value support = greater(y, 0);
  const Value inside = where(support, detail::as(g, wide), 0.0);
  const Value mean = detail::sum_as(inside, axes, true, wide) / detail::sum_as(cast(support, wide), axes, true, wide);
  return {detail::as(where(support, inside - mean, 0.0), context.dtype(0))};
}

std::vector<Spec> infer_sparsemax(const OpCall& call) {
  const auto axis = static_cast<std::size_t>(call.attributes.get<std::int64_t>("axis"));
  if (call.inputs[0].shape[axis] == 0) {
    fail<ShapeError>(call.where, "input axis {} must be at least 1; got shape {}", axis, call.inputs[0].shape);
  }
  return detail::infer_same(call);
}

}  // namespace

Op detail::define_sparsemax() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_sparsemax;
  op.gradient = sparsemax_gradient;
  return op;
}

Value sparsemax(const Value& x, std::int64_t axis) {
  const std::int64_t normal = detail::normalize_axis(axis, x.shape().size(), detail::current_label("sparsemax"));
  return insert_one(ops::sparsemax, {x}, {{"axis", normal}});
}

Value activations::linear(const Value& x) { return x; }
Value activations::exponential(const Value& x) { return exp(x); }

Value relu6(const Value& x) { return insert_one(ops::relu, {x}, {{"max_value", 6.0}}); }

Value leaky_relu(const Value& x, double negative_slope) {
  return detail::composed(ops::leaky_relu, x, [negative_slope](const Value& y) {
    return where(greater_equal(y, 0), y, y * negative_slope);
  });
}

Value elu(const Value& x, double alpha) { return exponential_below_0(x, alpha, 1); }

Value selu(const Value& x) {
  constexpr double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
  return elu(x, alpha) * scale;
}

Value celu(const Value& x, double alpha) {
  if (alpha == 0) fail<ValueError>(detail::current_label("celu"), "alpha must not be 0; got {}", alpha);
  return exponential_below_0(x, alpha, alpha);
}

Value hard_sigmoid(const Value& x) { return relu6(x + 3.0) / 6.0; }
Value hard_silu(const Value& x) { return x * hard_sigmoid(x); }
Value hard_tanh(const Value& x) { return where(greater(x, 1), 1.0, where(less(x, -1), -1.0, x)); }

Value hard_shrink(const Value& x, double threshold) { return where(greater(abs(x), threshold), x, 0.0); }

Value soft_shrink(const Value& x, double threshold) {
  return where(greater(x, threshold), x - threshold, where(less(x, -threshold), x + threshold, 0.0));
}

Value tanh_shrink(const Value& x) { return x - tanh(x); }
Value softsign(const Value& x) { return x / (abs(x) + 1.0); }

Value sparse_plus(const Value& x) {
  const Value sum = x + 1.0;
  return where(less_equal(x, -1), 0.0, where(greater_equal(x, 1), x, sum * sum * 0.25));
}

Value sparse_sigmoid(const Value& x) { return clip(x + 1.0, 0.0, 2.0) * 0.5; }
Value squareplus(const Value& x, double b) { return (x + sqrt(x * x + b)) * 0.5; }

Value threshold(const Value& x, double threshold, double default_value) {
  return where(greater(x, threshold), x, default_value);
}

Value log_sigmoid(const Value& x) { return -softplus(-x); }

// Far below 0, softplus(x) is too small for a normal number, and mish(x) is silu(x) to the last digit.
Value mish(const Value& x) {
  const Value near = maximum(x, -60.0);
  return where(less(x, -60), silu(x), near * tanh(softplus(near)));
}

Value glu(const Value& x, std::int64_t axis) {
  const std::string label = detail::current_label("glu");
  const std::int64_t normal = detail::normalize_axis(axis, x.shape().size(), label);
  if (x.shape()[static_cast<std::size_t>(normal)] % 2 != 0) {
    fail<ShapeError>(label, "input axis {} must be even; got shape {}", normal, x.shape());
  }
  const Values halves = split(x, 2, normal);
  return halves[0] * sigmoid(halves[1]);
}

}  // namespace mezzo
