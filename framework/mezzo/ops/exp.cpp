#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values exp_gradient(const GradientContext& context) { return {context.cotangent() * context.output()}; }

}  // namespace

Op detail::define_exp() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = exp_gradient;
  return op;
}

}  // namespace mezzo
