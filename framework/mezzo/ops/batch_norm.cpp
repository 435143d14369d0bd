#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

void require_like(const OpCall& call, std::size_t i, const Spec& x) {
  if (call.inputs[i] != x) {
    fail<ShapeError>(call.where, "input {} must be {}; got {}", i, to_string(x), to_string(call.inputs[i]));
  }
}

std::vector<Spec> infer_batch_norm(const OpCall& call) {
  detail::require_float(call, 0);
  const Spec& x = call.inputs[0];
  if (x.shape.empty()) fail<ShapeError>(call.where, "input must have a channel axis; got shape ()");
  const DType statistics = accumulation_dtype(x.dtype);
  const Spec channels{{x.shape.back()}, statistics};
  const char* names[] = {"gamma", "beta", "moving_mean", "moving_variance"};
  for (std::size_t i = 1; i < 5; ++i) {
    if (call.inputs[i].shape != channels.shape) {
      fail<ShapeError>(call.where, "input axis -1 must be {} (size of {}); got shape {}",
                       element_count(call.inputs[i].shape), names[i - 1], x.shape);
    }
    if (call.inputs[i].dtype != statistics) {
      fail<DTypeError>(call.where, "{} must be {}; got {}", names[i - 1], statistics, call.inputs[i].dtype);
    }
  }
  if (call.inputs.size() > 5) require_like(call, 5, x);
  std::vector<Spec> outputs{x, channels, channels, channels, channels};
  if (call.attributes.get_or("shift", false)) outputs.push_back(channels);
  return outputs;
}

std::vector<Spec> infer_batch_norm_gradient(const OpCall& call) {
  detail::require_cotangent(call, 0, call.inputs[1].shape);
  const Spec channels{{call.inputs[1].shape.back()}, accumulation_dtype(call.inputs[1].dtype)};
  const bool shift = call.attributes.get_or("shift", false);
  if (call.inputs.size() > 5) require_like(call, 5, shift ? channels : call.inputs[1]);
  std::vector<Spec> outputs{call.inputs[1], channels, channels};
  if (call.attributes.get_or("masked", false)) outputs.push_back(call.inputs[0]);
  return outputs;
}

Values batch_norm_gradient(const GradientContext& context) {
  if (!context.cotangent().defined()) return Values(5);  // only moving statistics are used, without a gradient
  const Value& x = context.input(0);
  const Values all =
      insert(ops::batch_norm_gradient,
             {detail::as(context.cotangent(), x.dtype()), x, context.input(1), context.output(1), context.output(2)},
             {{"training", context.attributes().get<bool>("training")}});
  Values out(5);
  for (std::size_t i = 0; i < 3; ++i) {
    if (context.needs(i)) out[i] = detail::as(all[i], context.dtype(i));
  }
  return out;
}

Values insert_batch_norm(const Values& inputs, const Attributes& attributes) {
  const DType compute = detail::operand_dtype(ops::batch_norm, inputs[0]);
  Values operands = inputs;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    operands[i] = detail::as(operands[i].across_border(false), accumulation_dtype(compute));
  }
  return insert(ops::batch_norm, operands,
                detail::with(attributes, {{"training", training_phase() && current_trainable()}}));
}

}  // namespace

Op detail::define_batch_norm() {
  Op op;
  op.cast.operands = {Cast::compute, Cast::keep};
  op.cast.floats_only = true;
  op.cast.by_first = true;
  op.infer = infer_batch_norm;
  op.gradient = batch_norm_gradient;
  op.reinsert = insert_batch_norm;
  return op;
}

Op detail::define_batch_norm_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_batch_norm_gradient;
  return op;
}

BatchNormResult batch_norm(const Value& x, const Value& gamma, const Value& beta, const Value& moving_mean,
                           const Value& moving_variance, const BatchNormOpOptions& options) {
  const Values out = insert_batch_norm({x, gamma, beta, moving_mean, moving_variance},
                                       {{"epsilon", options.epsilon}, {"momentum", options.momentum}});
  return {out[0], out[3], out[4]};
}

}  // namespace mezzo
