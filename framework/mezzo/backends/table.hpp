#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// All implementations of the library, for each op in the order in which they are tried.
std::vector<detail::Implementation> kernel_table();

/// "widen": converts operands in bfloat16 or float16 to float32, runs the best float32 kernel and rounds its results
/// once. For every op except those that the reference computes in any dtype.
std::vector<detail::Implementation> widen_implementations();

/// "apart": products with a residual or an upper limit of a ReLU, which are computed after the best kernel of the
/// product.
std::vector<detail::Implementation> apart_implementations();

/// "dequantized": products with a quantized weight by the best float product, of the dequantized weight. Weights of
/// frozen graphs are dequantized once.
std::vector<detail::Implementation> dequantized_implementations();

/// Implementations that decline products with a residual or an upper limit of a ReLU.
std::vector<detail::Implementation> without_wide_epilogues(std::vector<detail::Implementation> list);

/// "emulated": products of int8 on CPUs and for operands without a faster kernel. Codes are float32 numbers and
/// multiplied by the best float32 kernel, so sums above 2^24 are rounded.
std::vector<detail::Implementation> int8_emulation();

/// The same for convolutions of int8 and the gradients for their inputs.
std::vector<detail::Implementation> int8_convolution_emulation();

/// The widened kernel of a request, of any op; null and the reason if no operand is bfloat16 or float16.
std::unique_ptr<Kernel> create_widened(const KernelRequest& request, std::string& reason);

}  // namespace mezzo
