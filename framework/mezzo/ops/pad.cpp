#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_pad(const OpCall& call) {
  Spec out = call.inputs[0];
  for (const char* side : {"before", "after"}) {
    const auto& numbers = call.attributes.get<Shape>(side);
    detail::require_number_for_each_axis(call, side, numbers);
    for (std::size_t axis = 0; axis < numbers.size(); ++axis) {
      if (numbers[axis] < 0) {
        fail<ValueError>(call.where, "{} must not be negative; got {}", side, detail::numbers_text(numbers));
      }
      std::int64_t& size = out.shape[axis];
      if (size < 0 && numbers[axis] > 0) {
        fail<ShapeError>(call.where, "input axis {} must have a known size to be padded; got shape {}", axis,
                         call.inputs[0].shape);
      }
      if (size >= 0) size += numbers[axis];
    }
  }
  return {out};
}

Values pad_gradient(const GradientContext& context) {
  return {slice(context.cotangent(), {context.attributes().get<Shape>("before"), context.input(0).shape()})};
}

}  // namespace

Op detail::define_pad() {
  Op op;
  op.infer = infer_pad;
  op.gradient = pad_gradient;
  return op;
}

Value pad(const Value& x, const PadOptions& options) {
  return insert_one(ops::pad, {x}, {{"before", options.before}, {"after", options.after}});
}

}  // namespace mezzo
