#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values add_gradient(const GradientContext& context) {
  Values out(2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (context.needs(i)) out[i] = detail::reduce_to_input(context, i, context.cotangent());
  }
  return out;
}

}  // namespace

Op detail::define_add() {
  Op op;
  op.infer = infer_broadcast;
  op.gradient = add_gradient;
  return op;
}

Value add(const Value& a, const Value& b) { return insert_one(ops::add, {a, b}); }

}  // namespace mezzo
