#include <mezzo/ops/ctc.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

void check_ctc(const OpCall& call) {
  const Shape &target = call.inputs[0].shape, &output = call.inputs[1].shape;
  detail::require_integers(call, 0, "target");
  detail::require_float(call, 1);
  if (target.size() != 2) fail<ShapeError>(call.where, "target must be (batch, labels); got shape {}", target);
  if (output.size() != 3 || output[0] != target[0]) {
    fail<ShapeError>(call.where, "output must be (batch, frames, classes) with the batch of target {}; got shape {}",
                     target, output);
  }
  const char* const names[] = {"target_length", "output_length"};
  for (std::size_t i = 0; i < 2; ++i) {
    detail::require_integers(call, i + 2, names[i]);
    const Shape& shape = call.inputs[i + 2].shape;
    if (shape != Shape{target[0]}) {
      fail<ShapeError>(call.where, "{} must have shape {}; got {}", names[i], Shape{target[0]}, shape);
    }
  }
  const auto mask = call.attributes.get<std::int64_t>("mask_index");
  if (mask < 0 || mask >= output[2]) {
    fail<ValueError>(call.where, "mask_index must be in [0, {}); got {}", output[2], mask);
  }
}

std::vector<Spec> infer_ctc_loss(const OpCall& call) {
  check_ctc(call);
  return {{Shape{call.inputs[1].shape[0]}, accumulation_dtype(call.inputs[1].dtype)}};
}

std::vector<Spec> infer_ctc_loss_gradient(const OpCall& call) {
  check_ctc(call);
  detail::require_cotangent(call, 4, Shape{call.inputs[1].shape[0]});
  return {call.inputs[1]};
}

Values ctc_gradient(const GradientContext& context) {
  Values out(4);
  const Value g = detail::as(context.cotangent(), accumulation_dtype(context.input(1).dtype()));
  out[1] =
      insert_one(ops::ctc_loss_gradient, {context.input(0), context.input(1), context.input(2), context.input(3), g},
                 context.attributes());
  return out;
}

}  // namespace

Op detail::define_ctc_loss() {
  Op op;
  op.cast.operands = {Cast::keep, Cast::compute, Cast::keep, Cast::keep};
  op.infer = infer_ctc_loss;
  op.gradient = ctc_gradient;
  op.effect = true;  // throws for labels and lengths out of range
  return op;
}

Op detail::define_ctc_loss_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_ctc_loss_gradient;
  return op;
}

Value ctc_loss(const Value& target, const Value& output, const Value& target_length, const Value& output_length,
               std::int64_t mask_index) {
  using detail::as_labels;
  return insert_one(ops::ctc_loss, {as_labels(target), output, as_labels(target_length), as_labels(output_length)},
                    {{"mask_index", mask_index}});
}

}  // namespace mezzo
