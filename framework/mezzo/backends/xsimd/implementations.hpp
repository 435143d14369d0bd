#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo {

/// "xsimd": vector kernels for float32, bfloat16 and float16, compiled once per ISA and chosen by isa().
std::vector<Implementation> xsimd_implementations();

/// Of these, 3 x 3 convolutions of float32 operands where they should be faster than oneDNN's.
std::vector<Implementation> winograd_implementations();

/// The kernel of a request on a lower ISA than the machine's, for tests; null and why not.
std::unique_ptr<Kernel> xsimd_kernel(const KernelRequest& request, Isa isa, std::string& reason);

}  // namespace mezzo
