#pragma once
#include <cstdint>

#include <mezzo/backends/common/update_rules.hpp>
#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/backends/xsimd/update.hpp>

// optimizer_update works on blocks that stay in the cache: it loads gradient, variable and slots as float32, runs the
// rule, and stores. A rule is therefore compiled once per instruction set, not once for each combination of storages.
namespace mezzo::xsimd_kernels {

/// A block in float32.
struct RuleBlock {
  const float* gradient;  ///< scaled and clipped
  const float* variable;  ///< after its decay
  float* slots[3];
  float* change;  ///< result: added to the variable
};

/// One entry for each storage of a variable.
template <class T>
struct PerKept {
  using BySlots = T;
  T plain_float32, float32_with_bfloat16_copy, float32_with_float16_copy;
  T plain_bfloat16, plain_float16;
  T split_float32;
  T kahan_bfloat16, kahan_float16;
  T stochastic_bfloat16;
};

struct RuleFunctions {
  using Rule = void (*)(const RuleNumbers<float>& n, const RuleBlock& block, std::int64_t count);
  using LoadGradient = void (*)(const void* from, float multiplier, float clip, float* to, std::int64_t count);
  using LoadVariable = void (*)(const UpdateArrays& from, float decay, float* to, std::int64_t count);
  /// `words`: random words of the elements; unused unless the storage rounds stochastically.
  using Change = void (*)(const UpdateArrays& arrays, float decay, const float* addend, const std::int32_t* words,
                          std::int64_t count);

#define MEZZO_UPDATE_RULE(name, Formula, norms) Rule name;
#include <mezzo/ops/rows/update_rules.def>
#undef MEZZO_UPDATE_RULE
  PerStorage<LoadGradient> load_gradient;
  PerKept<LoadVariable> load_variable;
  PerKept<Change> change;
  void (*load_bfloat16)(const void* from, float* to, std::int64_t count);
  /// Rounds with the bits of the words from `shift` on.
  void (*store_bfloat16)(const float* from, const std::int32_t* words, int shift, void* to, std::int64_t count);
  /// Random words of elements from `first` on, a multiple of 64. Writes a multiple of 64 words.
  void (*random_words)(std::uint64_t stream, std::int64_t first, std::int32_t* to, std::int64_t count);
};

MEZZO_ISA_TABLE(RuleFunctions, update_rules)

Entries update_rule_entries();

}  // namespace mezzo::xsimd_kernels
