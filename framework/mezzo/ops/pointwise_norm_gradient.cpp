#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_pointwise_norm_gradient(const OpCall& call) {
  const std::vector<Spec> of_norm =
      ops::batch_norm_gradient.infer({{call.inputs.begin(), call.inputs.begin() + 6}, call.attributes, call.where});
  const Attributes pointwise{
      {"strides", Shape{1, 1}}, {"padding", Shape{0, 0, 0, 0}}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
  const Spec &y = call.inputs[1], &x = call.inputs[6], &kernel = call.inputs[7];
  const std::vector<Spec> of_x = ops::conv2d.infer({{x, kernel}, pointwise, call.where});
  if (of_x[0] != y) {
    fail<ShapeError>(call.where, "input 1 must be {} (the convolution's output); got {}", to_string(of_x[0]),
                     to_string(y));
  }
  return {x, {kernel.shape, accumulation_dtype(kernel.dtype)}, of_norm[1], of_norm[2]};
}

}  // namespace

Op detail::define_pointwise_norm_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_pointwise_norm_gradient;
  return op;
}

}  // namespace mezzo
