#pragma once
#include <string>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::xsimd_kernels {

/// True for a convolution with strides, or its input gradient, in float32, whose kernel, input 1, need not be constant.
/// Sets the reason otherwise; it stays empty without strides.
bool takes_strides(const KernelRequest& request, std::string& reason);

}  // namespace mezzo::xsimd_kernels
