#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {
namespace {

Values abs_gradient(const GradientContext& context) { return {context.cotangent() * sign(context.input(0))}; }

}  // namespace

Op detail::abs_op() {
  Op op;
  op.name = "abs";
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = abs_gradient;
  return op;
}

Value abs(const Value& x) { return insert_one(find_op("abs"), {x}); }

}  // namespace mezzo
