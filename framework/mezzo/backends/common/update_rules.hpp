#pragma once
#include <string>

#include <mezzo/graph/attributes.hpp>

namespace mezzo {

/// Numbers of a rule of optimizer_update in one step. The formulas are those of reference/update_rules.hpp.
template <class T>
struct RuleNumbers {
  T rate = 0;                ///< learning rate, with the bias corrections that are factors of the change
  T keep_1 = 0, rest_1 = 0;  ///< weight of the old and of the new value in the first average
  T keep_2 = 0, rest_2 = 0;  ///< the same for the second average
  T epsilon = 0;             ///< added to a denominator
  T from_slot = 0;           ///< factor of the first slot in the change
  T from_gradient = 0;       ///< factor of the gradient in the change
  T scale = 1;               ///< bias correction of the second average; ftrl: 2 l2; lars: the trust ratio
  bool momentum = false;     ///< rmsprop, lars: has a slot of velocities
  bool centered = false;     ///< rmsprop: has a slot of average gradients
  bool nesterov = false;     ///< lars

  template <class U>
  RuleNumbers<U> as() const {
    const auto to = [](T x) { return static_cast<U>(x); };
    return {to(rate),      to(keep_1),        to(rest_1), to(keep_2), to(rest_2), to(epsilon),
            to(from_slot), to(from_gradient), to(scale),  momentum,   centered,   nesterov};
  }
};

/// The numbers of update `count`, counted from 1. A NameError for an unknown rule.
RuleNumbers<double> rule_numbers(const std::string& rule, const Attributes& attributes, double learning_rate,
                                 double count);

/// Adds the norms to the numbers of a rule with norms (lamb, lars). `other` is the norm of the gradient (lars), or of
/// the change that the numbers of rule_numbers() give (lamb).
void set_norms(RuleNumbers<double>& numbers, const std::string& rule, const Attributes& attributes,
               double learning_rate, double variable, double other);

}  // namespace mezzo
