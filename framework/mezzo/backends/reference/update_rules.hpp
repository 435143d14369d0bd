#pragma once
#include <array>
#include <cmath>
#include <string>

#include <mezzo/backends/common/update_rules.hpp>
#include <mezzo/core/fail.hpp>

// Rules of optimizer_update, in T: rule(n, g, w, slots) updates the slots and returns the number to add to the
// variable. g is the gradient, scaled and clipped; w is the variable after its decay. One for each row of
// update_rules.def.
namespace mezzo::reference {

template <class T>
using RuleSlots = std::array<T, 3>;

template <class T>
using Rule = T (*)(const RuleNumbers<T>& n, T g, T w, RuleSlots<T>& slots);

template <class T>
T accumulate(const RuleNumbers<T>&, T g, T, RuleSlots<T>&) {
  return g;
}

template <class T>
T average(const RuleNumbers<T>& n, T g, T w, RuleSlots<T>&) {
  return (g - w) * n.rest_1;
}

/// Moments m and v of Adam and similar rules.
template <class T>
void add_to_moments(const RuleNumbers<T>& n, T g, T& m, T& v) {
  m += (g - m) * n.rest_1;
  v += (g * g - v) * n.rest_2;
}

template <class T>
T adamax(const RuleNumbers<T>& n, T g, T, RuleSlots<T>& slots) {
  auto& [m, u, unused] = slots;
  m += (g - m) * n.rest_1;
  const T faded = n.keep_2 * u, size = std::abs(g);
  u = faded > size ? faded : size;
  return -(n.rate * m / (u + n.epsilon));
}

template <class T>
T amsgrad(const RuleNumbers<T>& n, T g, T, RuleSlots<T>& slots) {
  auto& [m, v, largest] = slots;
  add_to_moments(n, g, m, v);
  largest = largest > v ? largest : v;
  return -(n.rate * m / (std::sqrt(largest) + n.epsilon));
}

template <class T>
T nadam(const RuleNumbers<T>& n, T g, T, RuleSlots<T>& slots) {
  auto& [m, v, unused] = slots;
  add_to_moments(n, g, m, v);
  return -((n.from_slot * m + n.from_gradient * g) / (std::sqrt(v * n.scale) + n.epsilon));
}

template <class T>
T lamb(const RuleNumbers<T>& n, T g, T, RuleSlots<T>& slots) {
  auto& [m, v, unused] = slots;
  add_to_moments(n, g, m, v);
  return -(n.rate * (m * n.from_slot / (std::sqrt(v * n.scale) + n.epsilon)));
}

template <class T>
T adagrad(const RuleNumbers<T>& n, T g, T, RuleSlots<T>& slots) {
  slots[0] += g * g;
  return -(n.rate * g / std::sqrt(slots[0] + n.epsilon));
}

template <class T>
T adadelta(const RuleNumbers<T>& n, T g, T, RuleSlots<T>& slots) {
  auto& [squares, changes, unused] = slots;
  squares = n.keep_1 * squares + n.rest_1 * (g * g);
  const T change = -(std::sqrt(changes + n.epsilon) * g / std::sqrt(squares + n.epsilon));
  changes = n.keep_1 * changes + n.rest_1 * (change * change);
  return n.rate * change;
}

template <class T>
T rmsprop(const RuleNumbers<T>& n, T g, T, RuleSlots<T>& slots) {
  slots[0] = n.keep_1 * slots[0] + n.rest_1 * (g * g);
  T variance = slots[0];
  if (n.centered) {
    T& mean = slots[n.momentum ? 2 : 1];
    mean = n.keep_1 * mean + n.rest_1 * g;
    variance = variance - mean * mean;
  }
  const T step = n.rate * g / std::sqrt(variance + n.epsilon);
  if (!n.momentum) return -step;
  slots[1] = n.keep_2 * slots[1] + step;
  return -slots[1];
}

template <class T>
T ftrl(const RuleNumbers<T>& n, T g, T w, RuleSlots<T>& slots) {
  auto& [squares, linear, unused] = slots;
  const auto power = [&](T x) { return n.keep_1 == T(0.5) ? std::sqrt(x) : std::pow(x, n.keep_1); };
  const T before = power(squares);
  squares += g * g;
  const T after = power(squares);
  linear += g + n.from_slot * w - (after - before) / n.rate * w;
  const T clipped = linear > n.epsilon ? n.epsilon : linear < -n.epsilon ? -n.epsilon : linear;
  return (clipped - linear) / (after / n.rate + n.scale) - w;
}

template <class T>
T lion(const RuleNumbers<T>& n, T g, T, RuleSlots<T>& slots) {
  const T c = n.keep_1 * slots[0] + n.rest_1 * g;
  slots[0] = n.keep_2 * slots[0] + n.rest_2 * g;
  return -(n.rate * (c > 0 ? T(1) : c < 0 ? T(-1) : c));
}

template <class T>
T lars(const RuleNumbers<T>& n, T g, T w, RuleSlots<T>& slots) {
  const T adapted = (g + n.keep_1 * w) * n.scale;
  if (!n.momentum) return -(n.rate * adapted);
  slots[0] = n.keep_2 * slots[0] + adapted;
  return -(n.rate * (n.nesterov ? adapted + n.keep_2 * slots[0] : slots[0]));
}

template <class T>
T schedule_free_adamw(const RuleNumbers<T>& n, T g, T w, RuleSlots<T>& slots) {
  auto& [z, v, unused] = slots;
  v += (g * g - v) * n.rest_2;
  const T x = (w - n.rest_1 * z) / n.keep_1;  // the average of the iterates z
  z -= n.rate * g / (std::sqrt(v * n.scale) + n.epsilon);
  const T next = (1 - n.from_slot) * x + n.from_slot * z;
  return n.rest_1 * z + n.keep_1 * next - w;
}

template <class T>
Rule<T> find_rule(const std::string& name) {
  // NOLINTBEGIN(bugprone-macro-parentheses): the name of a template
#define MEZZO_UPDATE_RULE(rule, Formula, norms) \
  if (name == #rule) return rule<T>;
#include <mezzo/ops/rows/update_rules.def>
#undef MEZZO_UPDATE_RULE
  // NOLINTEND(bugprone-macro-parentheses)
  fail<NameError>("[optimizer_update]", "unknown rule \"{}\"", name);
}

}  // namespace mezzo::reference
