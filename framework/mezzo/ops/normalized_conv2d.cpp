#include <mezzo/core/fail.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// Checks the numbers of each channel and infers the output of the convolution op of normalized x.
std::vector<Spec> infer_normalized(const OpCall& call, const Op& convolution) {
  const Spec& x = call.inputs[0];
  const std::vector<Spec> outputs =
      convolution.infer({{call.inputs.begin(), call.inputs.begin() + 2}, call.attributes, call.where});
  const Spec channels{{x.shape.back()}, accumulation_dtype(x.dtype)};
  for (std::size_t i = 2; i < 6; ++i) {
    if (call.inputs[i] != channels) {
      fail<ShapeError>(call.where, "input {} must be {}; got {}", i, to_string(channels), to_string(call.inputs[i]));
    }
  }
  return outputs;
}

Op define(std::vector<Spec> (*infer)(const OpCall&)) {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer;
  return op;
}

}  // namespace

Op detail::define_normalized_conv2d() {
  return define([](const OpCall& call) { return infer_normalized(call, ops::conv2d); });
}

Op detail::define_normalized_conv2d_kernel_gradient() {
  return define([](const OpCall& call) { return infer_normalized(call, ops::conv2d_kernel_gradient); });
}

}  // namespace mezzo
