#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values subtract_gradient(const GradientContext& context) {
  Values out(2);
  if (context.needs(0)) out[0] = detail::reduce_to_input(context, 0, context.cotangent());
  if (context.needs(1)) out[1] = -detail::reduce_to_input(context, 1, context.cotangent());
  return out;
}

}  // namespace

Op detail::define_subtract() {
  Op op;
  op.infer = infer_broadcast;
  op.gradient = subtract_gradient;
  return op;
}

Value subtract(const Value& a, const Value& b) { return insert_one(ops::subtract, {a, b}); }

}  // namespace mezzo
