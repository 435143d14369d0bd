#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::onednn {

/// oneDNN's kernel for a request; null, and sets the reason, if there is none. Doesn't consider whether another
/// implementation is faster; see prefers_float32() and prefers_widening().
using Creator = std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason);

Creator make_matmul;        // matmul.cpp
Creator make_split_matmul;  // split_matmul.cpp: float16 operands, products in bfloat16
Creator make_conv2d, make_conv2d_input_gradient, make_conv2d_kernel_gradient;  // conv2d.cpp

/// Reason why a request in bfloat16 is faster if widened to float32; empty if it isn't.
std::string prefers_float32(const KernelRequest& request);

/// Reason why a product of float16 operands is faster if widened to float32 than if split into bfloat16; empty if it
/// isn't, or for operands of other dtypes.
std::string prefers_widening(const KernelRequest& request, bool has_amx);

/// Product of float32 operands as one of bfloat16, `parts` times as deep: 1, rounded operands, or 3, sums of two
/// bfloat16. float32_matmul.cpp.
std::unique_ptr<Kernel> make_float32_matmul(const KernelRequest& request, std::int64_t parts, std::string& reason);

/// Reason why a float32 product doesn't run in bfloat16 at float32_matmul_precision "high" (`three` products) or
/// "medium"; empty if it does. `fast_bfloat16`: bfloat16 multiplies faster than float32.
std::string prefers_float32_products(const KernelRequest& request, bool three, bool has_amx, bool fast_bfloat16);

/// True if oneDNN multiplies bfloat16 with AMX, under the limits on the ISA.
bool has_amx_bfloat16();

/// True if an implementation of oneDNN with this name ("ref:any", "gemm:ref") is a plain loop.
bool is_reference(const std::string& implementation);

}  // namespace mezzo::onednn
