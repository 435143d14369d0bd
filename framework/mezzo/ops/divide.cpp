#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

// d(a / b) = da / b - y / b db
Values divide_gradient(const GradientContext& context) {
  Values out(2);
  const Value& b = context.input(1);
  if (context.needs(0)) out[0] = detail::reduce_to_input(context, 0, detail::cotangent_for(context, 0) / b);
  if (context.needs(1)) {
    out[1] = -detail::reduce_to_input(context, 1, detail::cotangent_for(context, 1) * context.output() / b);
  }
  return out;
}

std::vector<Spec> infer_divide(const OpCall& call) {
  detail::require_float(call, 0);
  return detail::infer_broadcast(call);
}

}  // namespace

Op detail::define_divide() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_divide;
  op.gradient = divide_gradient;
  return op;
}

Value divide(const Value& a, const Value& b) { return insert_one(ops::divide, {a, b}); }

}  // namespace mezzo
