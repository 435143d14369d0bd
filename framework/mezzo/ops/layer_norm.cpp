#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// Throws unless x (input `at_x`) ends with the axes of input `parameter`. Returns the spec of the statistics: the
/// leading axes of x in its accumulation dtype.
Spec check_parameter(const OpCall& call, std::size_t at_x, std::size_t parameter, const std::string& name) {
  const Spec& x = call.inputs[at_x];
  const Spec& p = call.inputs[parameter];
  const DType statistics = accumulation_dtype(x.dtype);
  if (p.shape.empty() || p.shape.size() > x.shape.size()) {
    fail<ShapeError>(call.where, "{} must have from 1 to {} axes (those of the input); got shape {}", name,
                     x.shape.size(), p.shape);
  }
  const std::size_t leading = x.shape.size() - p.shape.size();
  for (std::size_t axis = p.shape.size(); axis-- > 0;) {
    if (x.shape[leading + axis] == p.shape[axis]) continue;
    fail<ShapeError>(call.where, "input axis -{} must be {} (size of {}); got shape {}", p.shape.size() - axis,
                     p.shape[axis], name, x.shape);
  }
  if (p.dtype != statistics) {
    fail<DTypeError>(call.where, "{} must be {}; got {}", name, statistics, p.dtype);
  }
  return {Shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(leading)), statistics};
}

std::vector<Spec> infer_layer_norm(const OpCall& call) {
  detail::require_float(call, 0);
  const Spec statistics = check_parameter(call, 0, 1, "gamma");
  check_parameter(call, 0, 2, "beta");
  if (call.inputs[2] != call.inputs[1]) {
    fail<ShapeError>(call.where, "beta must have the shape of gamma, {}; got {}", call.inputs[1].shape,
                     call.inputs[2].shape);
  }
  return {call.inputs[0], statistics, statistics};
}

std::vector<Spec> infer_layer_norm_gradient(const OpCall& call) {
  detail::require_cotangent(call, 0, call.inputs[1].shape);
  check_parameter(call, 1, 2, "gamma");
  return {call.inputs[1], call.inputs[2], call.inputs[2]};
}

Values layer_norm_gradient(const GradientContext& context) {
  if (!context.cotangent().defined()) return Values(3);
  const Value& x = context.input(0);
  const Values all = insert(ops::layer_norm_gradient, {detail::as(context.cotangent(), x.dtype()), x, context.input(1),
                                                       context.output(1), context.output(2)});
  Values out(3);
  for (std::size_t i = 0; i < 3; ++i) {
    if (context.needs(i)) out[i] = detail::as(all[i], context.dtype(i));
  }
  return out;
}

Values insert_layer_norm(const Values& inputs, const Attributes& attributes) {
  const DType compute = detail::operand_dtype(ops::layer_norm, inputs[0]);
  Values operands = inputs;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    operands[i] = detail::as(operands[i].across_border(false), accumulation_dtype(compute));
  }
  return insert(ops::layer_norm, operands, attributes);
}

}  // namespace

Op detail::define_layer_norm() {
  Op op;
  op.cast.operands = {Cast::compute, Cast::keep};
  op.cast.floats_only = true;
  op.cast.by_first = true;
  op.infer = infer_layer_norm;
  op.gradient = layer_norm_gradient;
  op.reinsert = insert_layer_norm;
  return op;
}

Op detail::define_layer_norm_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_layer_norm_gradient;
  return op;
}

Value layer_norm(const Value& x, const Value& gamma, const Value& beta, double epsilon) {
  return insert_layer_norm({x, gamma, beta}, {{"epsilon", epsilon}}).front();
}

Value rms_normalization(const Value& x, const Value& scale, std::int64_t axis, std::optional<double> epsilon) {
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Value squares = mean(wide * wide, {{axis}, true});
  return detail::as(wide * rsqrt(squares + epsilon.value_or(1e-7)) * scale, narrow);
}

}  // namespace mezzo
