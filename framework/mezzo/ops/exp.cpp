#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {
namespace {

Values exp_gradient(const GradientContext& context) { return {context.cotangent() * context.output()}; }

}  // namespace

Op detail::exp_op() {
  Op op;
  op.name = "exp";
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = exp_gradient;
  return op;
}

Value exp(const Value& x) { return insert_one(find_op("exp"), {x}); }

}  // namespace mezzo
