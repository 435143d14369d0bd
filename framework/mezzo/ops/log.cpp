#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values log_gradient(const GradientContext& context) { return {context.cotangent() / context.input(0)}; }

}  // namespace

Op detail::define_log() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = log_gradient;
  return op;
}

}  // namespace mezzo
