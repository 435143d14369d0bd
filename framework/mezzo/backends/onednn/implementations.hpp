#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/product_rates.hpp>

namespace mezzo {

/// "onednn": matmul and the convolutions in float32, and in bfloat16 if the hardware has it and it isn't slower than
/// float32. "split": matmul of float16 operands as an exact product in bfloat16, if AMX makes that faster than float32.
std::vector<detail::Implementation> onednn_implementations();

/// "bfloat16": matmul of float32 operands as products of bfloat16, if float32_matmul_precision() permits it and they
/// are faster.
std::vector<detail::Implementation> float32_matmul_implementations();

/// True if oneDNN has bfloat16 in hardware (avx512_core_bf16 or AMX), under the limits that the environment sets on the
/// ISA of oneDNN and of mezzo.
bool onednn_has_native_bfloat16();

/// Support of oneDNN for products of a dtype on this CPU.
Support onednn_support(DType dtype);

/// True if those bfloat16 products are slower than float32 products: on Intel CPUs since Sapphire Rapids without AMX,
/// where VDPBF16PS has a quarter of the rate of a float32 FMA. Large products in bfloat16 are then left to "widen".
bool onednn_has_slow_bfloat16();

/// Number of oneDNN primitives that this process has created. A training step creates none after the first run.
std::int64_t onednn_primitives_created();

}  // namespace mezzo
