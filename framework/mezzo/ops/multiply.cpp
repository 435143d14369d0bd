#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

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

Op detail::multiply_op() {
  Op op;
  op.name = "multiply";
  op.aliases = {"mul"};
  op.infer = infer_broadcast;
  op.gradient = multiply_gradient;
  return op;
}

Value multiply(const Value& a, const Value& b) { return insert_one(find_op("multiply"), {a, b}); }

}  // namespace mezzo
