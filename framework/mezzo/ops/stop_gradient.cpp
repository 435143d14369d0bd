#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_any(const OpCall& call) { return {call.inputs[0]}; }

}  // namespace

Op detail::define_stop_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_any;
  op.view = true;
  return op;
}

Value stop_gradient(const Value& x) { return insert_one(ops::stop_gradient, {x}); }

}  // namespace mezzo
