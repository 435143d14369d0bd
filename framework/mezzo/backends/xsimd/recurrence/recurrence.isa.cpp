#include <mezzo/backends/xsimd/recurrence/recurrence.hpp>

#include <mezzo/backends/xsimd/math.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Stores a factor of products in float32 or bfloat16.
template <class Some>
[[gnu::always_inline]] inline void store_factor(float* wide, bfloat16* narrow, std::int64_t i, const Floats& x,
                                                Some part) {
  if (narrow != nullptr) {
    store(narrow + i, x, part);
  } else {
    store(wide + i, x, part);
  }
}

template <class T>
[[gnu::always_inline]] inline T* typed(void* p) {
  return static_cast<T*>(p);
}
template <class T>
[[gnu::always_inline]] inline const T* typed(const void* p) {
  return static_cast<const T*>(p);
}

/// Prefetches the same number of another step of the sample, `distance` numbers away, to the second-level cache. The
/// hardware does not follow pieces this small. A prefetch outside of an array has no effect.
template <class T>
[[gnu::always_inline]] inline void prefetch_step(const T* p, std::int64_t distance) {
  fetch_to_second_level(p + distance);
}

/// Writes the outputs of a step that the mask skips.
template <class T, int saved>
void skip(const RecurrentStep& s) {
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    store(typed<T>(s.states) + j, load(s.h + j, part), part);
    if (s.carries != nullptr) store(typed<T>(s.carries) + j, load(s.c + j, part), part);
    for (int gate = 0; gate < saved; ++gate) store(typed<T>(s.gates) + gate * s.units + j, Floats(0.0F), part);
  });
}

/// Input and product of a gate at an element.
template <class T, int gates>
struct GateInputs {
  const RecurrentStep& s;

  template <class Some>
  [[gnu::always_inline]] Floats x(std::int64_t gate, std::int64_t j, Some part) const {
    const T* p = typed<T>(s.x) + gate * s.units + j;
    prefetch_step(p, gates * s.units);
    return load(p, part);
  }
  template <class Some>
  [[gnu::always_inline]] Floats product(std::int64_t gate, std::int64_t j, Some part) const {
    const Floats y = load(s.product + gate * s.product_step + j, part);
    return s.bias == nullptr ? y : y + load(s.bias + gate * s.units + j, part);
  }
  template <class Some>
  [[gnu::always_inline]] Floats sum(std::int64_t gate, std::int64_t j, Some part) const {
    return x(gate, j, part) + product(gate, j, part);
  }
};

/// Stores the result of a gate. A step has those of `saved` gates.
template <class T, int saved, class Some>
[[gnu::always_inline]] inline void store_gate(const RecurrentStep& s, std::int64_t gate, std::int64_t j,
                                              const Floats& x, Some part) {
  T* p = typed<T>(s.gates) + gate * s.units + j;
  prefetch_step(p, saved * s.units);
  store(p, x, part);
}

template <class T, class Some>
[[gnu::always_inline]] inline void store_state(const RecurrentStep& s, std::int64_t j, const Floats& h, Some part) {
  store(s.h + j, h, part);
  if (s.factor != nullptr) store(s.factor + j, h, part);
  store(typed<T>(s.states) + j, h, part);
}

template <class T>
[[gnu::flatten]] void advance_simple_rnn(const RecurrentStep& s) {
  if (s.skipped) return skip<T, 0>(s);
  const GateInputs<T, 1> in{s};
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    store_state<T>(s, j, hyperbolic_tangent<T>(in.sum(0, j, part)), part);
  });
}

template <class T>
[[gnu::flatten]] void advance_lstm(const RecurrentStep& s) {
  if (s.skipped) return skip<T, 4>(s);
  const GateInputs<T, 4> in{s};
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats i = logistic<T>(in.sum(0, j, part)), f = logistic<T>(in.sum(1, j, part));
    const Floats g = hyperbolic_tangent<T>(in.sum(2, j, part)), o = logistic<T>(in.sum(3, j, part));
    const Floats c = multiply_add(f, load(s.c + j, part), i * g);
    store_gate<T, 4>(s, 0, j, i, part);
    store_gate<T, 4>(s, 1, j, f, part);
    store_gate<T, 4>(s, 2, j, g, part);
    store_gate<T, 4>(s, 3, j, o, part);
    store(s.c + j, c, part);
    store(typed<T>(s.carries) + j, c, part);
    store(s.h + j, o, part);
  });
  // In a separate loop: the shorter the chains of operations, the more elements the processor computes in parallel.
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    store_state<T>(s, j, load(s.h + j, part) * hyperbolic_tangent<T>(load(s.c + j, part)), part);
  });
}

template <class T>
[[gnu::flatten]] void advance_gru(const RecurrentStep& s) {
  if (s.skipped) return skip<T, 4>(s);
  const GateInputs<T, 3> in{s};
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats z = logistic<T>(in.sum(0, j, part)), r = logistic<T>(in.sum(1, j, part));
    const Floats product = in.product(2, j, part);
    const Floats candidate = hyperbolic_tangent<T>(multiply_add(r, product, in.x(2, j, part)));
    store_gate<T, 4>(s, 0, j, z, part);
    store_gate<T, 4>(s, 1, j, r, part);
    store_gate<T, 4>(s, 2, j, candidate, part);
    store_gate<T, 4>(s, 3, j, product, part);
    store_state<T>(s, j, multiply_add(z, load(s.h + j, part), (Floats(1.0F) - z) * candidate), part);
  });
}

template <class T>
[[gnu::flatten]] void advance_reset(const RecurrentStep& s) {
  const GateInputs<T, 3> in{s};
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats r = logistic<T>(in.sum(1, j, part));
    store_gate<T, 3>(s, 1, j, r, part);
    store(s.reset + j, r * load(s.h + j, part), part);
  });
}

template <class T>
[[gnu::flatten]] void advance_gru_reset_before(const RecurrentStep& s) {
  if (s.skipped) return skip<T, 3>(s);
  const GateInputs<T, 3> in{s};
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats z = logistic<T>(in.sum(0, j, part)), candidate = hyperbolic_tangent<T>(in.sum(2, j, part));
    store_gate<T, 3>(s, 0, j, z, part);
    store_gate<T, 3>(s, 2, j, candidate, part);
    store_state<T>(s, j, multiply_add(z, load(s.h + j, part), (Floats(1.0F) - z) * candidate), part);
  });
}

/// Cotangent of the state after the step.
template <class T, class Some>
[[gnu::always_inline]] inline Floats state_cotangent(const RecurrentStepBack& s, std::int64_t j, Some part) {
  Floats dh = load(s.rest + j, part);
  if (s.product != nullptr) dh = dh + load(s.product + j, part);
  if (s.of_states != nullptr) dh = dh + load(typed<T>(s.of_states) + j, part);
  return dh;
}

template <class T, int gates>
void skip_back(const RecurrentStepBack& s) {
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    store(s.rest + j, state_cotangent<T>(s, j, part), part);
    for (int gate = 0; gate < gates; ++gate) {
      store(typed<T>(s.dx) + gate * s.units + j, Floats(0.0F), part);
      store_factor(s.d, s.factor, gate * s.d_step + j, Floats(0.0F), part);
    }
  });
}

/// Loads the result of a gate. A step has those of `saved` gates.
template <class T, int saved, class Some>
[[gnu::always_inline]] inline Floats load_gate(const RecurrentStepBack& s, std::int64_t gate, std::int64_t j,
                                               Some part) {
  const T* p = typed<T>(s.gates) + gate * s.units + j;
  prefetch_step(p, -saved * s.units);
  return load(p, part);
}

/// Loads the carry or state before the step.
template <class T, class Some>
[[gnu::always_inline]] inline Floats load_before(const RecurrentStepBack& s, std::int64_t j, Some part) {
  if (s.before == nullptr) return Floats(0.0F);
  const T* p = typed<T>(s.before) + j;
  prefetch_step(p, -s.units);
  return load(p, part);
}

/// Stores the cotangent of x. A step has those of `gates` gates.
template <class T, int gates, class Some>
[[gnu::always_inline]] inline void store_dx(const RecurrentStepBack& s, std::int64_t gate, std::int64_t j,
                                            const Floats& d, Some part) {
  T* p = typed<T>(s.dx) + gate * s.units + j;
  prefetch_step(p, -gates * s.units);
  store(p, d, part);
}

/// Stores the cotangent of a gate's product.
template <class Some>
[[gnu::always_inline]] inline void store_product_cotangent(const RecurrentStepBack& s, std::int64_t gate,
                                                           std::int64_t j, const Floats& d, Some part) {
  store_factor(s.d, s.factor, gate * s.d_step + j, d, part);
  if (s.sums == nullptr) return;
  float* sum = s.sums + gate * s.units + j;
  store(sum, load(sum, part) + d, part);
}

template <class T, int gates, class Some>
[[gnu::always_inline]] inline void store_cotangent(const RecurrentStepBack& s, std::int64_t gate, std::int64_t j,
                                                   const Floats& d, Some part) {
  store_dx<T, gates>(s, gate, j, d, part);
  store_product_cotangent(s, gate, j, d, part);
}

[[gnu::always_inline]] inline Floats sigmoid_slope(const Floats& y) { return y * (Floats(1.0F) - y); }
[[gnu::always_inline]] inline Floats tanh_slope(const Floats& y) { return Floats(1.0F) - y * y; }

template <class T>
[[gnu::flatten]] void retreat_simple_rnn(const RecurrentStepBack& s) {
  if (s.skipped) return skip_back<T, 1>(s);
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats dh = state_cotangent<T>(s, j, part);
    store(s.rest + j, Floats(0.0F), part);
    store_cotangent<T, 1>(s, 0, j, dh * tanh_slope(load(typed<T>(s.states) + j, part)), part);
  });
}

template <class T>
[[gnu::flatten]] void retreat_lstm(const RecurrentStepBack& s) {
  if (s.skipped) return skip_back<T, 4>(s);
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats i = load_gate<T, 4>(s, 0, j, part), f = load_gate<T, 4>(s, 1, j, part),
                 g = load_gate<T, 4>(s, 2, j, part), o = load_gate<T, 4>(s, 3, j, part),
                 y = hyperbolic_tangent<T>(load(typed<T>(s.carries) + j, part));
    const Floats before = load_before<T>(s, j, part);
    const Floats dh = state_cotangent<T>(s, j, part);
    const Floats dc = multiply_add(dh * o, tanh_slope(y), load(s.dc + j, part));
    store_cotangent<T, 4>(s, 0, j, dc * g * sigmoid_slope(i), part);
    store_cotangent<T, 4>(s, 1, j, dc * before * sigmoid_slope(f), part);
    store_cotangent<T, 4>(s, 2, j, dc * i * tanh_slope(g), part);
    store_cotangent<T, 4>(s, 3, j, dh * y * sigmoid_slope(o), part);
    store(s.dc + j, dc * f, part);
    store(s.rest + j, Floats(0.0F), part);
  });
}

template <class T>
[[gnu::flatten]] void retreat_gru(const RecurrentStepBack& s) {
  if (s.skipped) return skip_back<T, 3>(s);
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats z = load_gate<T, 4>(s, 0, j, part), r = load_gate<T, 4>(s, 1, j, part),
                 candidate = load_gate<T, 4>(s, 2, j, part), product = load_gate<T, 4>(s, 3, j, part);
    const Floats before = load_before<T>(s, j, part);
    const Floats dh = state_cotangent<T>(s, j, part);
    const Floats of_candidate = dh * (Floats(1.0F) - z) * tanh_slope(candidate);
    store_cotangent<T, 3>(s, 0, j, dh * (before - candidate) * sigmoid_slope(z), part);
    store_cotangent<T, 3>(s, 1, j, of_candidate * product * sigmoid_slope(r), part);
    store_dx<T, 3>(s, 2, j, of_candidate, part);
    store_product_cotangent(s, 2, j, of_candidate * r, part);
    store(s.rest + j, dh * z, part);
  });
}

template <class T>
[[gnu::flatten]] void retreat_gru_reset_before(const RecurrentStepBack& s) {
  if (s.skipped) return skip_back<T, 3>(s);
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats z = load_gate<T, 3>(s, 0, j, part), candidate = load_gate<T, 3>(s, 2, j, part);
    const Floats before = load_before<T>(s, j, part);
    const Floats dh = state_cotangent<T>(s, j, part);
    store_cotangent<T, 3>(s, 0, j, dh * (before - candidate) * sigmoid_slope(z), part);
    store_cotangent<T, 3>(s, 2, j, dh * (Floats(1.0F) - z) * tanh_slope(candidate), part);
    store(s.rest + j, dh * z, part);
  });
}

template <class T>
[[gnu::flatten]] void retreat_reset(const RecurrentStepBack& s) {
  if (s.skipped) return;
  for_registers(0, s.units, [&](std::int64_t j, auto part) {
    const Floats r = load_gate<T, 3>(s, 1, j, part), product = load(s.product + j, part);
    const Floats before = load_before<T>(s, j, part);
    store_cotangent<T, 3>(s, 1, j, product * before * sigmoid_slope(r), part);
    store(s.rest + j, multiply_add(product, r, load(s.rest + j, part)), part);
  });
}

}  // namespace

constexpr RecurrenceFunctions recurrence{
    .simple_rnn = {advance_simple_rnn<float>, advance_simple_rnn<bfloat16>, advance_simple_rnn<float16>},
    .lstm = {advance_lstm<float>, advance_lstm<bfloat16>, advance_lstm<float16>},
    .gru = {advance_gru<float>, advance_gru<bfloat16>, advance_gru<float16>},
    .simple_rnn_back = {retreat_simple_rnn<float>, retreat_simple_rnn<bfloat16>, retreat_simple_rnn<float16>},
    .lstm_back = {retreat_lstm<float>, retreat_lstm<bfloat16>, retreat_lstm<float16>},
    .gru_back = {retreat_gru<float>, retreat_gru<bfloat16>, retreat_gru<float16>},
    .reset = {advance_reset<float>, advance_reset<bfloat16>, advance_reset<float16>},
    .gru_reset_before = {advance_gru_reset_before<float>, advance_gru_reset_before<bfloat16>,
                         advance_gru_reset_before<float16>},
    .gru_reset_before_back = {retreat_gru_reset_before<float>, retreat_gru_reset_before<bfloat16>,
                              retreat_gru_reset_before<float16>},
    .reset_back = {retreat_reset<float>, retreat_reset<bfloat16>, retreat_reset<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
