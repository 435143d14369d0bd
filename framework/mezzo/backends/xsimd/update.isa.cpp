#include <mezzo/backends/xsimd/update.hpp>

#include <mezzo/backends/xsimd/kept_variables.hpp>
#include <mezzo/backends/xsimd/philox.hpp>
#include <mezzo/backends/xsimd/slot_codes.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

// max and min returns their second operand if one is NaN.
[[gnu::always_inline]] inline Floats clipped(const Floats& x, const Floats& bound) {
  return xsimd::min(bound, xsimd::max(-bound, x));
}

// The rules of the optimizers: rule(gradient, slots) updates the slots and returns the number to add to the variable.

struct Sgd {
  using Coefficients = SgdCoefficients;
  static constexpr int slot_count = 0;
  Floats rate;

  explicit Sgd(const SgdCoefficients& k) : rate(k.rate) {}
  [[gnu::always_inline]] Floats operator()(const Floats& g, Floats (&)[2]) const { return -(rate * g); }
};

struct Momentum {
  using Coefficients = SgdCoefficients;
  static constexpr int slot_count = 1;
  Floats rate, keep, from_buffer, from_gradient;

  explicit Momentum(const SgdCoefficients& k)
      : rate(k.rate), keep(k.momentum), from_buffer(k.from_buffer), from_gradient(k.from_gradient) {}
  [[gnu::always_inline]] Floats operator()(const Floats& g, Floats (&slots)[2]) const {
    slots[0] = keep * slots[0] - rate * g;
    return from_buffer * slots[0] - from_gradient * g;
  }
};

struct Adam {
  using Coefficients = AdamCoefficients;
  static constexpr int slot_count = 2;
  Floats rate, rest_1, rest_2, epsilon;

  explicit Adam(const AdamCoefficients& k) : rate(k.rate), rest_1(k.rest_1), rest_2(k.rest_2), epsilon(k.epsilon) {}
  [[gnu::always_inline]] Floats operator()(const Floats& g, Floats (&slots)[2]) const {
    slots[0] = slots[0] + (g - slots[0]) * rest_1;
    slots[1] = slots[1] + (g * g - slots[1]) * rest_2;
    return -(rate * slots[0] / (xsimd::sqrt(slots[1]) + epsilon));
  }
};

/// The random words of `stride` elements from `first` on, a multiple of `stride`. `stride` is a whole number of rounds
/// of Philox for every ISA.
[[gnu::always_inline]] inline void make_words(const Philox& philox, std::int64_t first,
                                              std::int32_t (&out_words)[stride]) {
  Words words[4];
  for (std::int64_t i = 0; i < stride; i += batch) {
    philox(static_cast<std::uint64_t>(first + i) / 4, words);
    for (int j = 0; j < 4; ++j) xsimd::bitwise_cast<Ints>(words[j]).store_aligned(out_words + i + j * lanes);
  }
}

template <class Kept, class S, class G, class Rule>
[[gnu::flatten]] void pass(const UpdateArrays& arrays, const typename Rule::Coefficients& k, std::int64_t begin,
                           std::int64_t end) {
  constexpr bool random_slots = !std::is_same_v<S, float>;
  const UpdateArrays a = arrays;
  const Rule rule(k);
  const Floats multiplier(k.multiplier), clip(k.clip), decay(k.decay);
  const auto addend_of = [&](std::int64_t i, auto part, const Ints& slot_word) __attribute__((always_inline)) {
    const Floats gradient = clipped(load(in<G>(a.gradient) + i, part) * multiplier, clip);
    Floats slots[2];
    for (int s = 0; s < Rule::slot_count; ++s) slots[s] = load(in<S>(a.slots[s]) + i, part);
    const Floats addend = rule(gradient, slots);
    for (int s = 0; s < Rule::slot_count; ++s) {
      const Ints word = s == 0 ? slot_word : xsimd::bitwise_cast<Ints>(xsimd::bitwise_cast<Words>(slot_word) >> 16);
      store(out<S>(a.new_slots[s]) + i, random_slots ? rounded_stochastically(slots[s], word) : slots[s], part);
    }
    return addend;
  };
  const auto prefetch = [&](std::int64_t i) {
    prefetch_ahead(in<typename Kept::Stored>(a.variable) + i);
    prefetch_ahead(in<G>(a.gradient) + i);
    for (int s = 0; s < Rule::slot_count; ++s) prefetch_ahead(in<S>(a.slots[s]) + i);
    if constexpr (Kept::beside) prefetch_ahead(in<typename Kept::Stored>(a.beside) + i);
    if (a.copy != nullptr) prefetch_ahead(in<bfloat16>(a.copy) + i);  // or float16, of the same size
  };
  const Philox of_slots(a.slot_stream), of_variable(a.variable_stream);
  alignas(64) std::int32_t slot_words[stride] = {}, variable_words[stride] = {};
  for (std::int64_t i = begin, next = begin; i < end; i = next) {
    const std::int64_t first = (a.first + i) / stride * stride;
    const std::int64_t block_end = first + stride - a.first;
    next = block_end < end ? block_end : end;
    prefetch(i);
    if constexpr (random_slots) make_words(of_slots, first, slot_words);
    if constexpr (Kept::random) make_words(of_variable, first, variable_words);
    const auto slot_word = [&](std::int64_t j, auto part) {
      return load_ints(slot_words + (a.first + j - first), part);
    };
    const auto with_words = [&](std::int64_t j, auto part) {
      const Ints word = load_ints(variable_words + (a.first + j - first), part);
      Kept::change(a, j, part, decay, addend_of(j, part, slot_word(j, part)), word);
    };
    if (next - i < stride) {
      for_registers(i, next, with_words);
    } else if constexpr (Kept::copies) {
      for (std::int64_t j = i; j < next; j += 2 * lanes) {
        const Floats addends[] = {addend_of(j, Whole{}, slot_word(j, Whole{})),
                                  addend_of(j + lanes, Whole{}, slot_word(j + lanes, Whole{}))};
        Kept::change_two(a, j, decay, addends);
      }
    } else {
      for (std::int64_t j = i; j < next; j += lanes) with_words(j, Whole{});
    }
  }
}

template <class Rule>
using Table = UpdateTable<typename Rule::Coefficients>;

/// The pass for slots in S and a gradient in G, or null.
template <class Rule, class Kept, class S, class G>
constexpr typename Table<Rule>::Function pass_of() {
  constexpr bool has_slots = std::is_same_v<S, float> || Rule::slot_count > 0;
  constexpr bool any_gradient = Kept::any_gradient && std::is_same_v<S, float>;
  if constexpr (has_slots && (any_gradient || std::is_same_v<G, typename Kept::Gradient>)) {
    return pass<Kept, S, G, Rule>;
  } else {
    return nullptr;
  }
}

template <class Rule, class Kept, class S>
constexpr PerStorage<typename Table<Rule>::Function> by_gradient{.float32 = pass_of<Rule, Kept, S, float>(),
                                                                 .bfloat16 = pass_of<Rule, Kept, S, bfloat16>(),
                                                                 .float16 = pass_of<Rule, Kept, S, float16>()};

template <class Rule, class Kept>
constexpr typename Table<Rule>::BySlots by_slots{.float32 = by_gradient<Rule, Kept, float>,
                                                 .bfloat16 = by_gradient<Rule, Kept, bfloat16>};

template <class Rule>
constexpr Table<Rule> table{
    .plain_float32 = by_slots<Rule, Plain<float>>,
    .float32_with_bfloat16_copy = by_slots<Rule, Plain<float, bfloat16>>,
    .float32_with_float16_copy = by_slots<Rule, Plain<float, float16>>,
    .plain_bfloat16 = by_slots<Rule, Plain<bfloat16>>,
    .plain_float16 = by_slots<Rule, Plain<float16>>,
    .split_float32 = by_slots<Rule, Split>,
    .kahan_bfloat16 = by_slots<Rule, Kahan<bfloat16>>,
    .kahan_float16 = by_slots<Rule, Kahan<float16>>,
    .stochastic_bfloat16 = by_slots<Rule, Stochastic>,
};

}  // namespace

constexpr UpdateFunctions update{.sgd = table<Sgd>,
                                 .momentum = table<Momentum>,
                                 .adam = table<Adam>,
                                 .codes = {.decode = decode_slot, .encode = encode_slot}};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
