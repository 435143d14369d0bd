#include <algorithm>
#include <functional>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>

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

std::vector<Spec> infer_batch_norm_statistics(const OpCall& call) {
  std::vector<Spec> outputs = infer_batch_norm(call);
  outputs.resize(5, outputs[1]);
  outputs[0] = outputs[1];  // five arrays of a number for each channel, without y
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

/// Axes of the statistics: all but the last.
Shape statistics_axes(const Value& x) {
  Shape axes;
  for (std::size_t i = 0; i + 1 < x.shape().size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

/// dx with the part that goes through the statistics of all ranks. `all`: gradients with respect to x, gamma and beta
/// if the statistics were constants.
Value through_joined_statistics(const GradientContext& context, const Values& all) {
  const Value &x = context.input(0), &gamma = context.input(1), mean = context.output(1), inverse = context.output(2);
  const DType wide = all[1].dtype();
  const Value sums = detail::mean_of_ranks(true)(stack({all[1], all[2]}));  // of each rank's loss, by its share
  const Values by = unstack(sums);
  const std::int64_t rows = std::max<std::int64_t>(detail::count_along(x.shape(), statistics_axes(x)), 1);
  const Value scale = gamma * inverse * (1 / static_cast<double>(rows));
  return detail::as(all[0], wide) - scale * (by[1] + (detail::as(x, wide) - mean) * (inverse * by[0]));
}

Values batch_norm_gradient(const GradientContext& context) {
  if (!context.cotangent().defined()) return Values(5);  // only moving statistics are used, without a gradient
  const Value& x = context.input(0);
  Values all =
      insert(ops::batch_norm_gradient,
             {detail::as(context.cotangent(), x.dtype()), x, context.input(1), context.output(1), context.output(2)},
             {{"training", context.attributes().get<bool>("training")}});
  if (context.needs(0) && context.attributes().get_or("joined", false)) {
    all[0] = through_joined_statistics(context, all);
  }
  Values out(5);
  for (std::size_t i = 0; i < 3; ++i) {
    if (context.needs(i)) out[i] = detail::as(all[i], context.dtype(i));
  }
  return out;
}

/// Batch norm in training with the statistics of the batches of all ranks. x has the dtype in which the op computes.
Values insert_joined(Values operands, const Attributes& attributes,
                     const std::function<Value(const Value&)>& mean_of_ranks) {
  const detail::LibraryScope as_inserted;
  const Value wide = detail::as(operands[0], operands[3].dtype()), moving_mean = operands[3],
              moving_variance = operands[4];
  const ReduceOptions rows{.axes = statistics_axes(wide)};
  operands[3] = mean_of_ranks(mean(wide, rows));
  operands[4] = mean_of_ranks(mean(square(wide - operands[3]), rows));
  const double momentum = attributes.get<double>("momentum");
  Values out = insert(ops::batch_norm, operands, detail::with(attributes, {{"training", false}, {"joined", true}}));
  out[3] = moving_mean * momentum + operands[3] * (1 - momentum);
  out[4] = moving_variance * momentum + operands[4] * (1 - momentum);
  return out;
}

/// True if a layer's compute dtype would round x: features from outside. False under op lists, which round operands
/// themselves, and in functional graphs, which are inserted again.
bool is_rounded(const Value& x, DType compute) {
  if (detail::current_frames().empty() || (Trace::current() == nullptr && x.symbolic())) return false;
  const bool narrow = accumulation_dtype(compute) != compute && detail::current_policy().by_op() == nullptr;
  return narrow && !x.weak() && x.dtype() != compute && x.dtype() != DType::boolean;
}

Values insert_batch_norm(const Values& inputs, const Attributes& attributes) {
  const DType compute = detail::operand_dtype(ops::batch_norm, inputs[0]);
  Values operands = inputs;
  if (is_rounded(inputs[0], compute)) {
    operands[0] = detail::as(inputs[0].across_border(false), accumulation_dtype(compute));
    Values out = insert_batch_norm(operands, attributes);
    out[0] = detail::as(out[0], compute);
    return out;
  }
  for (std::size_t i = 1; i < operands.size(); ++i) {
    operands[i] = detail::as(operands[i].across_border(false), accumulation_dtype(compute));
  }
  const bool training = detail::training_phase() && detail::current_trainable();
  const auto mean_of_ranks = detail::mean_of_ranks(attributes.get_or("synchronized", false));
  if (training && mean_of_ranks) {
    operands[0] = detail::as(operands[0], compute);
    return insert_joined(std::move(operands), attributes, mean_of_ranks);
  }
  return insert(ops::batch_norm, operands, detail::with(attributes, {{"training", training}}));
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

Op detail::define_batch_norm_statistics() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_batch_norm_statistics;
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
  const Values out = insert_batch_norm(
      {x, gamma, beta, moving_mean, moving_variance},
      {{"epsilon", options.epsilon}, {"momentum", options.momentum}, {"synchronized", options.synchronized}});
  return {out[0], out[3], out[4]};
}

}  // namespace mezzo
