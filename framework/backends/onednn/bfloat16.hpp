#pragma once
#include <string>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::onednn {

/// Why a request in bfloat16 is better widened to float32, or nothing.
std::string prefers_float32(const KernelRequest& request);

}  // namespace mezzo::onednn
