#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values softplus_gradient(const GradientContext& context) { return {context.cotangent() * sigmoid(context.input(0))}; }

}  // namespace

Op detail::define_softplus() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = softplus_gradient;
  return op;
}

}  // namespace mezzo
