#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/exact_numbers.hpp>
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
  op.reinsert = [](const Values& inputs, const Attributes&) { return Values{mezzo::equal(inputs[0], inputs[1])}; };
  return op;
}

Value equal(const Value& a, const Value& b) {
  if (const auto number = detail::beyond_number(ops::equal, a, b)) {  // equal to none
    const Value& array = number->first ? b : a;
    return less(array, array);
  }
  return insert_one(ops::equal, {a, b});
}

}  // namespace mezzo
