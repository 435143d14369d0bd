#include <mezzo/backends/xsimd/stream.hpp>
#include <mezzo/backends/xsimd/update.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

// max and min give their second operand where one is NaN.
[[gnu::always_inline]] inline Floats clipped(const Floats& x, const Floats& bound) {
  return xsimd::min(bound, xsimd::max(-bound, x));
}

template <class Copy, class Some>
[[gnu::always_inline]] inline void store_copy(Copy* p, const Floats& x, Some part) {
  if constexpr (!std::is_same_v<Copy, float>) store(p, x, part);
}

template <class V, class G, class Copy, bool momentum>
[[gnu::flatten]] void sgd(const UpdateArrays& a, const SgdCoefficients& k, std::int64_t begin, std::int64_t end) {
  const Floats multiplier(k.multiplier), clip(k.clip), decay(k.decay), rate(k.rate), keep(k.momentum);
  const Floats from_buffer(k.from_buffer), from_gradient(k.from_gradient);
  const V* const w = static_cast<const V*>(a.variable) + begin;
  const G* const g = static_cast<const G*>(a.gradient) + begin;
  const float* const b = a.slots[0] + (momentum ? begin : 0);
  V* const new_w = static_cast<V*>(a.new_variable) + begin;
  float* const new_b = a.new_slots[0] + (momentum ? begin : 0);
  Copy* const copy = static_cast<Copy*>(a.copy) + (a.copy != nullptr ? begin : 0);
  const auto body = [&](std::int64_t i, auto part) {
    const Floats gradient = clipped(load(g + i, part) * multiplier, clip);
    Floats weight = load(w + i, part);
    weight = negative_multiply_add(decay, weight, weight);
    if constexpr (momentum) {
      const Floats buffer = negative_multiply_add(rate, gradient, keep * load(b + i, part));
      store(new_b + i, buffer, part);
      weight = negative_multiply_add(from_gradient, gradient, multiply_add(from_buffer, buffer, weight));
    } else {
      weight = negative_multiply_add(rate, gradient, weight);
    }
    store(new_w + i, weight, part);
    store_copy(copy + i, weight, part);
  };
  if constexpr (momentum) {
    stream(end - begin, body, w, g, b);
  } else {
    stream(end - begin, body, w, g);
  }
}

template <class V, class G, class Copy>
[[gnu::flatten]] void adam(const UpdateArrays& a, const AdamCoefficients& k, std::int64_t begin, std::int64_t end) {
  const Floats multiplier(k.multiplier), clip(k.clip), decay(k.decay), rate(k.rate), epsilon(k.epsilon);
  const Floats rest_1(k.rest_1), rest_2(k.rest_2);
  const V* const w = static_cast<const V*>(a.variable) + begin;
  const G* const g = static_cast<const G*>(a.gradient) + begin;
  const float* const m = a.slots[0] + begin;
  const float* const v = a.slots[1] + begin;
  V* const new_w = static_cast<V*>(a.new_variable) + begin;
  float* const new_m = a.new_slots[0] + begin;
  float* const new_v = a.new_slots[1] + begin;
  Copy* const copy = static_cast<Copy*>(a.copy) + (a.copy != nullptr ? begin : 0);
  const auto body = [&](std::int64_t i, auto part) {
    const Floats gradient = clipped(load(g + i, part) * multiplier, clip);
    const Floats old_m = load(m + i, part);
    const Floats old_v = load(v + i, part);
    const Floats mean = multiply_add(gradient - old_m, rest_1, old_m);
    const Floats square = multiply_add(multiply_subtract(gradient, gradient, old_v), rest_2, old_v);
    store(new_m + i, mean, part);
    store(new_v + i, square, part);
    Floats weight = load(w + i, part);
    weight = negative_multiply_add(decay, weight, weight) - rate * mean / (xsimd::sqrt(square) + epsilon);
    store(new_w + i, weight, part);
    store_copy(copy + i, weight, part);
  };
  stream(end - begin, body, w, g, m, v);
}

/// Of the variables only those in float32 have copies. (To g++ 12 a captured v is const.)
template <class Function, class Make>
constexpr UpdateFunctions::Table<Function> table(Make make) {
  return per_storage([make](auto v) {
    return per_storage([make, v](auto g) {
      return per_storage([make, v, g](auto copy) -> Function {
        if constexpr (std::is_same_v<std::remove_const_t<decltype(v)>, float> ||
                      std::is_same_v<decltype(copy), float>) {
          return make(v, g, copy);
        } else {
          return nullptr;
        }
      });
    });
  });
}

}  // namespace

constexpr UpdateFunctions update{table<UpdateFunctions::Sgd>([](auto v, auto g, auto copy) {
                                   return sgd<decltype(v), decltype(g), decltype(copy), false>;
                                 }),
                                 table<UpdateFunctions::Sgd>([](auto v, auto g, auto copy) {
                                   return sgd<decltype(v), decltype(g), decltype(copy), true>;
                                 }),
                                 table<UpdateFunctions::Adam>([](auto v, auto g, auto copy) {
                                   return adam<decltype(v), decltype(g), decltype(copy)>;
                                 })};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
