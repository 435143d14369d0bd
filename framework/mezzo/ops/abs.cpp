#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values abs_gradient(const GradientContext& context) { return {context.cotangent() * sign(context.input(0))}; }

}  // namespace

Op detail::define_abs() {
  Op op;
  op.infer = infer_like;
  op.gradient = abs_gradient;
  return op;
}

}  // namespace mezzo
