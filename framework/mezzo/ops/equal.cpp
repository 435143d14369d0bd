#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_equal(const OpCall& call) {
  return {{detail::infer_broadcast(call).front().shape, DType::boolean}};
}

}  // namespace

Op detail::equal_op() {
  Op op;
  op.name = "equal";
  op.aliases = {"eq"};
  op.infer = infer_equal;
  return op;
}

Value equal(const Value& a, const Value& b) { return insert_one(find_op("equal"), {a, b}); }

}  // namespace mezzo
