#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values negative_gradient(const GradientContext& context) { return {-context.cotangent()}; }

}  // namespace

Op detail::define_negative() {
  Op op;
  op.infer = infer_like;
  op.gradient = negative_gradient;
  return op;
}

}  // namespace mezzo
