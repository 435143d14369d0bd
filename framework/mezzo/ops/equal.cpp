#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_equal(const OpCall& call) {
  return {{detail::infer_broadcast(call).front().shape, DType::boolean}};
}

}  // namespace

Op detail::define_equal() {
  Op op;
  op.infer = infer_equal;
  return op;
}

Value equal(const Value& a, const Value& b) { return insert_one(ops::equal, {a, b}); }

}  // namespace mezzo
