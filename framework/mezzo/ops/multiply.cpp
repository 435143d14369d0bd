#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values multiply_gradient(const GradientContext& context) {
  Values out(2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!context.needs(i)) continue;
    out[i] = detail::reduce_to_input(context, i, detail::cotangent_for(context, i) * context.input(1 - i));
  }
  return out;
}

}  // namespace

Op detail::define_multiply() {
  Op op;
  op.infer = infer_broadcast;
  op.gradient = multiply_gradient;
  return op;
}

Value multiply(const Value& a, const Value& b) { return insert_one(ops::multiply, {a, b}); }

}  // namespace mezzo
