#pragma once
#include <string>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::onednn {

/// Why a request in bfloat16 is better widened to float32, or nothing.
std::string prefers_float32(const KernelRequest& request);

/// Why a product is better widened to float32 than split into bfloat16, or nothing; nothing for other operands than
/// float16.
std::string prefers_widening(const KernelRequest& request, bool has_amx);

/// Whether oneDNN multiplies bfloat16 by AMX, under the caps on the ISA.
bool has_amx_bfloat16();

}  // namespace mezzo::onednn
