#pragma once
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// "widen": operands in bfloat16 or float16 are converted to float32, the best float32 kernel runs, and its
/// results are rounded once. For every op but those that the reference computes in any dtype.
std::vector<Implementation> widen_implementations();

/// The widened kernel of a request, of any op; null and the reason if no operand is bfloat16 or float16.
std::unique_ptr<Kernel> create_widened(const KernelRequest& request, std::string& reason);

}  // namespace mezzo
