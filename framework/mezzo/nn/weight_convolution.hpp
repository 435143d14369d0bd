#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/variable.hpp>
#include <mezzo/ops/conv2d.hpp>

namespace mezzo::detail {

/// conv2d() with a layer's kernel. Inputs are quantized as the kernel's form says. In a functional graph it is a call
/// of its own, so that the model computes with the kernel's form at each call.
MEZZO_API Value weight_convolution(const Value& x, const Variable& kernel, const Conv2DOpOptions& options);

}  // namespace mezzo::detail
