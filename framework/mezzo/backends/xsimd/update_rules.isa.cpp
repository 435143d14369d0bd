#include <mezzo/backends/xsimd/update_rules.hpp>

#include <mezzo/backends/xsimd/kept_variables.hpp>
#include <mezzo/backends/xsimd/philox.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Slots = Floats[3];

/// RuleNumbers in registers.
struct Numbers {
  Floats rate, keep_1, rest_1, keep_2, rest_2, epsilon, from_slot, from_gradient, scale;
  bool momentum, centered, nesterov;

  explicit Numbers(const RuleNumbers<float>& n)
      : rate(n.rate),
        keep_1(n.keep_1),
        rest_1(n.rest_1),
        keep_2(n.keep_2),
        rest_2(n.rest_2),
        epsilon(n.epsilon),
        from_slot(n.from_slot),
        from_gradient(n.from_gradient),
        scale(n.scale),
        momentum(n.momentum),
        centered(n.centered),
        nesterov(n.nesterov) {}
};

/// a > b ? a : b, so b if one is NaN.
[[gnu::always_inline]] inline Floats larger(const Floats& a, const Floats& b) { return xsimd::select(a > b, a, b); }

[[gnu::always_inline]] inline void add_to_moments(const Numbers& n, const Floats& g, Slots& slots) {
  slots[0] = slots[0] + (g - slots[0]) * n.rest_1;
  slots[1] = slots[1] + (g * g - slots[1]) * n.rest_2;
}

// The rules of update_rules.def: rule(n, g, w, slots) updates the slots and returns the number to add to the variable.

struct Accumulate {
  static constexpr int slot_count = 0;
  [[gnu::always_inline]] static Floats change(const Numbers&, const Floats& g, const Floats&, Slots&) { return g; }
};

struct Average {
  static constexpr int slot_count = 0;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats& w, Slots&) {
    return (g - w) * n.rest_1;
  }
};

struct Adamax {
  static constexpr int slot_count = 2;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats&, Slots& slots) {
    slots[0] = slots[0] + (g - slots[0]) * n.rest_1;
    slots[1] = larger(n.keep_2 * slots[1], xsimd::abs(g));
    return -(n.rate * slots[0] / (slots[1] + n.epsilon));
  }
};

struct Amsgrad {
  static constexpr int slot_count = 3;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats&, Slots& slots) {
    add_to_moments(n, g, slots);
    slots[2] = larger(slots[2], slots[1]);
    return -(n.rate * slots[0] / (xsimd::sqrt(slots[2]) + n.epsilon));
  }
};

struct Nadam {
  static constexpr int slot_count = 2;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats&, Slots& slots) {
    add_to_moments(n, g, slots);
    return -((n.from_slot * slots[0] + n.from_gradient * g) / (xsimd::sqrt(slots[1] * n.scale) + n.epsilon));
  }
};

struct Lamb {
  static constexpr int slot_count = 2;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats&, Slots& slots) {
    add_to_moments(n, g, slots);
    return -(n.rate * (slots[0] * n.from_slot / (xsimd::sqrt(slots[1] * n.scale) + n.epsilon)));
  }
};

struct Adagrad {
  static constexpr int slot_count = 1;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats&, Slots& slots) {
    slots[0] = slots[0] + g * g;
    return -(n.rate * g / xsimd::sqrt(slots[0] + n.epsilon));
  }
};

struct Adadelta {
  static constexpr int slot_count = 2;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats&, Slots& slots) {
    slots[0] = n.keep_1 * slots[0] + n.rest_1 * (g * g);
    const Floats change = -(xsimd::sqrt(slots[1] + n.epsilon) * g / xsimd::sqrt(slots[0] + n.epsilon));
    slots[1] = n.keep_1 * slots[1] + n.rest_1 * (change * change);
    return n.rate * change;
  }
};

/// `momentum` and `centered` determine the slots: velocity, momentum, average gradient.
template <bool momentum, bool centered>
struct RmsPropOf {
  static constexpr int slot_count = 1 + (momentum ? 1 : 0) + (centered ? 1 : 0);
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats&, Slots& slots) {
    slots[0] = n.keep_1 * slots[0] + n.rest_1 * (g * g);
    Floats variance = slots[0];
    if constexpr (centered) {
      Floats& mean = slots[momentum ? 2 : 1];
      mean = n.keep_1 * mean + n.rest_1 * g;
      variance = variance - mean * mean;
    }
    const Floats step = n.rate * g / xsimd::sqrt(variance + n.epsilon);
    if constexpr (!momentum) return -step;
    slots[1] = n.keep_2 * slots[1] + step;
    return -slots[1];
  }
};

/// For a learning_rate_power of -0.5.
struct Ftrl {
  static constexpr int slot_count = 2;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats& w, Slots& slots) {
    const Floats before = xsimd::sqrt(slots[0]);
    slots[0] = slots[0] + g * g;
    const Floats after = xsimd::sqrt(slots[0]);
    slots[1] = slots[1] + (g + n.from_slot * w - (after - before) / n.rate * w);
    const Floats clipped =
        xsimd::select(slots[1] > n.epsilon, n.epsilon, xsimd::select(slots[1] < -n.epsilon, -n.epsilon, slots[1]));
    return (clipped - slots[1]) / (after / n.rate + n.scale) - w;
  }
};

struct Lion {
  static constexpr int slot_count = 1;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats&, Slots& slots) {
    const Floats c = n.keep_1 * slots[0] + n.rest_1 * g, zero(0.0F);
    slots[0] = n.keep_2 * slots[0] + n.rest_2 * g;
    return -(n.rate * xsimd::select(c > zero, Floats(1.0F), xsimd::select(c < zero, Floats(-1.0F), c)));
  }
};

template <bool momentum, bool nesterov>
struct LarsOf {
  static constexpr int slot_count = momentum ? 1 : 0;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats& w, Slots& slots) {
    const Floats adapted = (g + n.keep_1 * w) * n.scale;
    if constexpr (!momentum) return -(n.rate * adapted);
    slots[0] = n.keep_2 * slots[0] + adapted;
    if constexpr (!nesterov) return -(n.rate * slots[0]);
    return -(n.rate * (adapted + n.keep_2 * slots[0]));
  }
};

struct ScheduleFreeAdamW {
  static constexpr int slot_count = 2;
  [[gnu::always_inline]] static Floats change(const Numbers& n, const Floats& g, const Floats& w, Slots& slots) {
    slots[1] = slots[1] + (g * g - slots[1]) * n.rest_2;
    const Floats x = (w - n.rest_1 * slots[0]) / n.keep_1;
    slots[0] = slots[0] - n.rate * g / (xsimd::sqrt(slots[1] * n.scale) + n.epsilon);
    const Floats next = (Floats(1.0F) - n.from_slot) * x + n.from_slot * slots[0];
    return n.rest_1 * slots[0] + n.keep_1 * next - w;
  }
};

template <class Rule>
void run(const RuleNumbers<float>& numbers, const RuleBlock& block, std::int64_t count) {
  const Numbers n(numbers);
  const RuleBlock b = block;
  for_registers(0, count, [&](std::int64_t i, auto part) {
    Slots slots{};
    for (int s = 0; s < Rule::slot_count; ++s) slots[s] = load(b.slots[s] + i, part);
    store(b.change + i, Rule::change(n, load(b.gradient + i, part), load(b.variable + i, part), slots), part);
    for (int s = 0; s < Rule::slot_count; ++s) store(b.slots[s] + i, slots[s], part);
  });
}

struct RmsProp;
template <>
void run<RmsProp>(const RuleNumbers<float>& n, const RuleBlock& block, std::int64_t count) {
  if (n.momentum) {
    n.centered ? run<RmsPropOf<true, true>>(n, block, count) : run<RmsPropOf<true, false>>(n, block, count);
  } else {
    n.centered ? run<RmsPropOf<false, true>>(n, block, count) : run<RmsPropOf<false, false>>(n, block, count);
  }
}

struct Lars;
template <>
void run<Lars>(const RuleNumbers<float>& n, const RuleBlock& block, std::int64_t count) {
  if (!n.momentum) return run<LarsOf<false, false>>(n, block, count);
  n.nesterov ? run<LarsOf<true, true>>(n, block, count) : run<LarsOf<true, false>>(n, block, count);
}

// max and min returns their second operand if one is NaN: a NaN is not clipped.
template <class G>
void load_gradient(const void* from, float multiplier, float clip, float* to, std::int64_t count) {
  const Floats factor(multiplier), bound(clip);
  for_registers(0, count, [&](std::int64_t i, auto part) {
    const Floats g = load(in<G>(from) + i, part) * factor;
    store(to + i, xsimd::min(bound, xsimd::max(-bound, g)), part);
  });
}

template <class Kept>
void load_variable(const UpdateArrays& a, float decay, float* to, std::int64_t count) {
  using Stored = typename Kept::Stored;
  const Floats d(decay);
  for_registers(0, count, [&](std::int64_t i, auto part) {
    if constexpr (std::is_same_v<Kept, Split>) {
      const Floats w = load_split(in<bfloat16>(a.variable) + i, in<bfloat16>(a.beside) + i, part);
      store(to + i, w - d * w, part);
    } else {
      const Floats w = load(in<Stored>(a.variable) + i, part);
      if constexpr (Kept::beside) {
        store(to + i, w + (load(in<Stored>(a.beside) + i, part) - d * w), part);
      } else {
        store(to + i, w - d * w, part);
      }
    }
  });
}

template <class Kept>
void change(const UpdateArrays& arrays, float decay, const float* addend, const std::int32_t* words,
            std::int64_t count) {
  const UpdateArrays a = arrays;
  const Floats d(decay);
  for_registers(0, count, [&](std::int64_t i, auto part) {
    const Ints word = Kept::random ? load_ints(words + i, part) : Ints(0);
    Kept::change(a, i, part, d, load(addend + i, part), word);
  });
}

void load_bfloat16(const void* from, float* to, std::int64_t count) {
  for_registers(0, count, [&](std::int64_t i, auto part) { store(to + i, load(in<bfloat16>(from) + i, part), part); });
}

void store_bfloat16(const float* from, const std::int32_t* words, int shift, void* to, std::int64_t count) {
  for_registers(0, count, [&](std::int64_t i, auto part) {
    const Ints word = load_ints(words + i, part);
    const Ints bits = shift == 0 ? word : xsimd::bitwise_cast<Ints>(xsimd::bitwise_cast<Words>(word) >> 16);
    store(out<bfloat16>(to) + i, rounded_stochastically(load(from + i, part), bits), part);
  });
}

void random_words(std::uint64_t stream, std::int64_t first, std::int32_t* to, std::int64_t count) {
  const Philox philox(stream);
  Words words[4];
  for (std::int64_t i = 0; i < count; i += batch) {
    philox(static_cast<std::uint64_t>(first + i) / 4, words);
    for (int j = 0; j < 4; ++j) xsimd::bitwise_cast<Ints>(words[j]).store_unaligned(to + i + j * lanes);
  }
}

}  // namespace

constexpr RuleFunctions update_rules{
#define MEZZO_UPDATE_RULE(name, Formula, norms) .name = run<Formula>,
#include <mezzo/ops/rows/update_rules.def>
#undef MEZZO_UPDATE_RULE
    .load_gradient = {.float32 = load_gradient<float>,
                      .bfloat16 = load_gradient<bfloat16>,
                      .float16 = load_gradient<float16>},
    .load_variable = {.plain_float32 = load_variable<Plain<float>>,
                      .float32_with_bfloat16_copy = load_variable<Plain<float>>,
                      .float32_with_float16_copy = load_variable<Plain<float>>,
                      .plain_bfloat16 = load_variable<Plain<bfloat16>>,
                      .plain_float16 = load_variable<Plain<float16>>,
                      .split_float32 = load_variable<Split>,
                      .kahan_bfloat16 = load_variable<Kahan<bfloat16>>,
                      .kahan_float16 = load_variable<Kahan<float16>>,
                      .stochastic_bfloat16 = load_variable<Stochastic>},
    .change = {.plain_float32 = change<Plain<float>>,
               .float32_with_bfloat16_copy = change<Plain<float, bfloat16>>,
               .float32_with_float16_copy = change<Plain<float, float16>>,
               .plain_bfloat16 = change<Plain<bfloat16>>,
               .plain_float16 = change<Plain<float16>>,
               .split_float32 = change<Split>,
               .kahan_bfloat16 = change<Kahan<bfloat16>>,
               .kahan_float16 = change<Kahan<float16>>,
               .stochastic_bfloat16 = change<Stochastic>},
    .load_bfloat16 = load_bfloat16,
    .store_bfloat16 = store_bfloat16,
    .random_words = random_words,
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
