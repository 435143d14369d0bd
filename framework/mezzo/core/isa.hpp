#pragma once
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Instruction sets that kernels can be compiled for. Each one contains those before it.
enum class Isa { sse2, avx2, avx512, avx512_bf16 };

/// "SSE2", "AVX2", "AVX512_CORE" or "AVX512_CORE_BF16": oneDNN's spelling, except for SSE2, which oneDNN lacks.
MEZZO_API const char* isa_name(Isa isa);

/// The highest instruction set that the library has kernels for and that CPU and operating system support, capped by
/// the environment variable MEZZO_MAX_ISA or, if that is not set, ONEDNN_MAX_CPU_ISA. The environment is read once.
/// Throws a NameError if MEZZO_MAX_ISA is an unknown name, an Error if no kernels can run (`MEZZO_KERNELS` in
/// README.md).
MEZZO_API Isa isa();

/// The instruction set of a name, case ignored. Names of oneDNN between two of these map to the lower one. Throws a
/// NameError with the valid names if there is none.
MEZZO_API Isa isa_from_name(const std::string& name);

}  // namespace mezzo
