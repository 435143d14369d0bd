#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_identity(const OpCall& call) { return {call.inputs[0]}; }

Values identity_gradient(const GradientContext& context) { return {context.cotangent()}; }

}  // namespace

Op detail::define_identity() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_identity;
  op.gradient = identity_gradient;
  op.view = true;
  return op;
}

Value identity(const Value& x) { return insert_one(ops::identity, {x}); }

}  // namespace mezzo
