#pragma once
#include <string>

namespace mezzo {

/// Instruction sets that kernels are compiled for, each containing those before it.
enum class Isa { sse2, avx2, avx512, avx512_bf16 };

/// "SSE2", "AVX2", "AVX512_CORE", "AVX512_CORE_BF16": oneDNN's spelling, where it has one.
const char* isa_name(Isa isa);

/// The best one that this CPU and its operating system have, capped by the environment's MEZZO_MAX_ISA (by default
/// ONEDNN_MAX_CPU_ISA), read once. A NameError if MEZZO_MAX_ISA names none that exists.
Isa isa();

/// The one of that name or, for names of oneDNN's that lie between ours, the next lower one. Used by isa().
Isa isa_from_name(const std::string& name);

}  // namespace mezzo
