#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_any(const OpCall& call) { return {call.inputs[0]}; }

}  // namespace

Op detail::stop_gradient_op() {
  Op op;
  op.name = "stop_gradient";
  op.aliases = {"detach"};
  op.cast.operands = {Cast::keep};
  op.infer = infer_any;
  op.view = true;
  return op;
}

Value stop_gradient(const Value& x) { return insert_one(find_op("stop_gradient"), {x}); }

}  // namespace mezzo
