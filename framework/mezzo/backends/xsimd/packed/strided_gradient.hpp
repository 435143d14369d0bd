#pragma once
#include <memory>
#include <string>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

/// The gradient for the input of a convolution with strides, in float32. Returns null and sets the reason if it
/// declines.
std::unique_ptr<Kernel> make_strided_gradient(const KernelRequest& request, Isa isa, std::string& reason);

}  // namespace mezzo::xsimd_kernels
