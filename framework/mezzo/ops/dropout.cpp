#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

#include <mezzo/graph/trace.hpp>

namespace mezzo {
namespace {

Values dropout_gradient(const GradientContext& context) {
  Values operands{context.cotangent()};
  for (std::size_t i = 1; i < context.input_count(); ++i) operands.push_back(context.input(i));
  return {insert_one(ops::dropout, operands, context.attributes())};
}

Values insert_dropout(const Values& inputs, const Attributes& attributes) {
  if (Trace::current() == nullptr && inputs[0].symbolic()) {  // a functional graph: its call sets the mode
    return insert(ops::dropout, {inputs[0], 0.0, 0.0}, detail::with(attributes, {{"key", std::int64_t{0}}}));
  }
  if (!detail::training_phase() || attributes.get<double>("rate") == 0) {  // same dtype as in training
    return {detail::as(inputs[0], detail::operand_dtype(ops::dropout, inputs[0])).across_border(false)};
  }
  const detail::Draw draw = detail::next_draw();
  Values operands{inputs[0], draw.seed, draw.step};
  if (Value first = draw.first_element(inputs[0].shape()); first.defined()) operands.push_back(std::move(first));
  return insert(ops::dropout, operands, detail::with(attributes, {{"key", draw.key}}));
}

}  // namespace

Op detail::define_dropout() {
  Op op;
  op.cast.operands = {Cast::compute, Cast::keep};
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = dropout_gradient;
  op.reinsert = insert_dropout;
  return op;
}

Value dropout(const Value& x, double rate) {
  if (!(rate >= 0 && rate < 1)) {
    fail<ValueError>(detail::current_label("dropout"), "rate must lie in [0, 1); got {}", rate);
  }
  return insert_dropout({x}, {{"rate", rate}}).front();
}

}  // namespace mezzo
