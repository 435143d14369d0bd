#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo {

/// "xsimd": vector kernels for float32, bfloat16 and float16, compiled once for each ISA; isa() chooses at run time.
std::vector<detail::Implementation> xsimd_implementations();

/// "depthwise": xsimd's convolutions with one filter a channel, by a direct sum.
std::vector<detail::Implementation> depthwise_implementations();

/// "few_taps": xsimd's convolutions whose sums have few terms, such as those of a first layer.
std::vector<detail::Implementation> few_taps_implementations();

/// "outer": xsimd's gradients of the kernels of dense layers, 1 x 1 convolutions and convolutions with strides.
std::vector<detail::Implementation> outer_product_implementations();

/// "pointwise": xsimd's 1 x 1 convolutions and gradients of their inputs, with AVX2. Operands of 16 bits are multiplied
/// as float32 if the CPU has no faster products of them. In float32 also joined with the gradient of a batch norm
/// behind them, if its array exceeds the caches.
std::vector<detail::Implementation> pointwise_implementations();

/// "few_rows": xsimd's products of a few rows with a large matrix.
std::vector<detail::Implementation> few_rows_implementations();

/// "gemm": xsimd's products of float32 with one matrix, on CPUs with AVX2 and without AVX-512.
std::vector<detail::Implementation> gemm_implementations();

/// "packed": xsimd's matrix products and convolutions with kernels that are constants of a frozen graph; with AVX2 also
/// convolutions with strides and gradients of their inputs.
std::vector<detail::Implementation> packed_implementations();

/// "int8": xsimd's matrix products whose operands are quantized to int8, on CPUs with AVX-512 and VNNI.
std::vector<detail::Implementation> int8_implementations();

/// "codes": xsimd's products with quantized weights: of few rows, and of more rows that are quantized.
std::vector<detail::Implementation> codes_implementations();

/// "winograd": xsimd's 3 x 3 convolutions of float32, and of bfloat16 if the CPU multiplies it at twice the rate, for
/// shapes where they should be faster than oneDNN's.
std::vector<detail::Implementation> winograd_implementations();

/// The xsimd kernel of a request for an ISA that this machine has, for tests. Returns null and sets the reason if it
/// declines.
std::unique_ptr<Kernel> xsimd_kernel(const KernelRequest& request, Isa isa, std::string& reason);

/// Likewise the product of matrices that "gemm" has, for any ISA.
std::unique_ptr<Kernel> xsimd_gemm_kernel(const KernelRequest& request, Isa isa, std::string& reason);

}  // namespace mezzo
