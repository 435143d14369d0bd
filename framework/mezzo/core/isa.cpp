#include <mezzo/core/isa.hpp>

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include <mezzo/core/compiled_isas.hpp>
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

struct Entry {
  const char* name;
  Isa isa;
};

// mezzo's names first, in the order of Isa; then the other names of oneDNN 2.6 and 3.x.
constexpr std::array<Entry, 17> names_of_isas{{{"SSE2", Isa::sse2},
                                               {"AVX2", Isa::avx2},
                                               {"AVX512_CORE", Isa::avx512},
                                               {"AVX512_CORE_BF16", Isa::avx512_bf16},
                                               {"SSE41", Isa::sse2},
                                               {"AVX", Isa::sse2},
                                               {"AVX2_VNNI", Isa::avx2},
                                               {"AVX2_VNNI_2", Isa::avx2},
                                               {"AVX512_CORE_VNNI", Isa::avx512},
                                               {"AVX512_CORE_FP16", Isa::avx512_bf16},
                                               {"AVX512_CORE_AMX", Isa::avx512_bf16},
                                               {"AVX512_CORE_AMX_FP16", Isa::avx512_bf16},
                                               {"AVX10_1_512", Isa::avx512_bf16},
                                               {"AVX10_1_512_AMX", Isa::avx512_bf16},
                                               {"AVX10_1_512_AMX_FP16", Isa::avx512_bf16},
                                               {"ALL", Isa::avx512_bf16},
                                               {"DEFAULT", Isa::avx512_bf16}}};

/// Ignores case.
std::optional<Isa> find(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const Entry& entry : names_of_isas) {
    if (name == entry.name) return entry.isa;
  }
  return std::nullopt;
}

// clang 14's __builtin_cpu_supports lacks f16c.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) == 1 && (c & bit_F16C) != 0;
}

Isa best_of_cpu() {
  __builtin_cpu_init();
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())) return Isa::sse2;
  if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))) {
    return Isa::avx2;
  }
  return __builtin_cpu_supports("avx512bf16") ? Isa::avx512_bf16 : Isa::avx512;
}

/// Upper limit from the environment.
Isa cap() {
  const char* ours = std::getenv(detail::environment_variables::max_isa);
  if (ours != nullptr && *ours != '\0') return isa_from_name(ours);
  const char* onednn = std::getenv("ONEDNN_MAX_CPU_ISA");
  // oneDNN ignores an unknown name.
  return onednn != nullptr ? find(onednn).value_or(Isa::avx512_bf16) : Isa::avx512_bf16;
}

}  // namespace

const char* isa_name(Isa isa) { return names_of_isas[static_cast<std::size_t>(isa)].name; }

Isa isa() {
  static const Isa best = detail::usable_isa(std::min(best_of_cpu(), cap()), detail::compiled_isas());
  return best;
}

Isa isa_from_name(const std::string& name) {
  if (const auto found = find(name)) return *found;
  std::vector<std::string_view> valid;
  for (const Entry& entry : names_of_isas) valid.emplace_back(entry.name);
  fail_unknown("", "instruction set", name, valid);
}

}  // namespace mezzo
