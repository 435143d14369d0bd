#pragma once
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/product_rates.hpp>

namespace mezzo {

/// "onednn": matmul and the convolutions in float32, and in bfloat16 where that is in hardware and no slower. "split":
/// matmul of float16 operands as an exact product in bfloat16, where AMX makes that faster than float32.
std::vector<Implementation> onednn_implementations();

/// Whether oneDNN has bfloat16 in hardware (avx512_core_bf16 or AMX) under the caps on the ISA, its own and ours.
bool onednn_has_native_bfloat16();

/// Support of oneDNN for products of a dtype on this CPU.
Support onednn_support(DType dtype);

/// Whether those bfloat16 products are slower than float32's: on Intel CPUs since Sapphire Rapids, when AMX is off,
/// VDPBF16PS has a quarter of the rate of a float32 FMA. There, what computes much is left to "widen".
bool onednn_has_slow_bfloat16();

}  // namespace mezzo
