#pragma once
#include <memory>
#include <string>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

/// The gradient of a convolution's kernel: sums of the outer products of windows of the images and the
/// outputs' cotangents. Returns null and sets the reason if it declines.
std::unique_ptr<Kernel> make_window_products(const KernelRequest& request, Isa isa, std::string& reason);

}  // namespace mezzo::xsimd_kernels
