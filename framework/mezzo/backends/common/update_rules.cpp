#include <mezzo/backends/common/update_rules.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/update_rules.hpp>

namespace mezzo {
namespace {

using Numbers = RuleNumbers<double>;

/// Product of Nadam's momenta beta_1 (1 - 0.96^i / 2) of updates 1 to `count`. Factors from 1024 on are beta_1 exactly.
double momentum_product(double beta_1, double count) {
  double product = std::pow(beta_1, count), decay = 1;
  for (double i = 1; i <= std::min(count, 1024.0); ++i) {
    decay *= 0.96;
    product *= 1 - 0.5 * decay;
  }
  return product;
}

/// Inputs of a rule's numbers.
struct RuleStep {
  const Attributes& attributes;
  double learning_rate, count;
  double beta_1, beta_2;  ///< 0 for rules without them
  double rest_1, rest_2;  ///< 1 - beta^count

  RuleStep(const Attributes& given, double rate, double updates)
      : attributes(given),
        learning_rate(rate),
        count(updates),
        beta_1(given.get_or("beta_1", 0.0)),
        beta_2(given.get_or("beta_2", 0.0)),
        rest_1(1 - std::pow(beta_1, count)),
        rest_2(1 - std::pow(beta_2, count)) {}

  double number(const char* name) const { return attributes.get<double>(name); }
  bool flag(const char* name) const { return attributes.get<bool>(name); }
};

/// Numbers that several rules have.
Numbers common_numbers(const RuleStep& s) {
  Numbers n;
  n.rate = s.learning_rate;
  if (s.attributes.has("epsilon")) n.epsilon = s.number("epsilon");
  if (s.attributes.has("beta_1")) {
    n.keep_1 = s.beta_1;
    n.rest_1 = 1 - s.beta_1;
    n.keep_2 = s.beta_2;
    n.rest_2 = 1 - s.beta_2;
    n.scale = 1 / s.rest_2;
  }
  if (s.attributes.has("rho")) {
    n.keep_1 = s.number("rho");
    n.rest_1 = 1 - n.keep_1;
  }
  return n;
}

// The rules' own numbers: set_name() of each row of update_rules.def.

void set_accumulate(Numbers&, const RuleStep&) {}
void set_adadelta(Numbers&, const RuleStep&) {}
void set_adagrad(Numbers&, const RuleStep&) {}
void set_lion(Numbers&, const RuleStep&) {}

void set_adamax(Numbers& n, const RuleStep& s) { n.rate = s.learning_rate / s.rest_1; }

void set_amsgrad(Numbers& n, const RuleStep& s) { n.rate = s.learning_rate * std::sqrt(s.rest_2) / s.rest_1; }

void set_average(Numbers& n, const RuleStep& s) { n.rest_1 = s.count == 1 ? 1 : 1 - s.number("momentum"); }

void set_ftrl(Numbers& n, const RuleStep& s) {
  n.keep_1 = -s.number("learning_rate_power");
  n.epsilon = s.number("l1");
  n.from_slot = 2 * s.number("shrinkage");
  n.scale = 2 * (s.number("l2") + s.number("beta") / (2 * s.learning_rate));
}

void set_lamb(Numbers& n, const RuleStep& s) {
  n.rate = 1;
  n.from_slot = 1 / s.rest_1;
}

void set_lars(Numbers& n, const RuleStep& s) {
  n.keep_1 = s.number("decay");
  n.keep_2 = s.number("momentum");
  n.momentum = n.keep_2 > 0;
  n.nesterov = s.flag("nesterov");
}

void set_nadam(Numbers& n, const RuleStep& s) {
  const double momentum = s.beta_1 * (1 - 0.5 * std::pow(0.96, s.count));
  const double next_momentum = s.beta_1 * (1 - 0.5 * std::pow(0.96, s.count + 1));
  const double product = momentum_product(s.beta_1, s.count);
  n.from_slot = s.learning_rate * next_momentum / (1 - product * next_momentum);
  n.from_gradient = s.learning_rate * (1 - momentum) / (1 - product);
}

void set_rmsprop(Numbers& n, const RuleStep& s) {
  n.keep_2 = s.number("momentum");
  n.momentum = n.keep_2 > 0;
  n.centered = s.flag("centered");
}

void set_schedule_free_adamw(Numbers& n, const RuleStep& s) {
  const double warmup = s.number("warmup_steps");
  n.rate = s.learning_rate * (warmup > 0 ? std::min(s.count / warmup, 1.0) : 1);
  n.from_slot = 1 / s.count;  // weight of the new iterate in the average
}

using SetNumbers = void (*)(Numbers&, const RuleStep&);

SetNumbers find_numbers(const std::string& rule) {
#define MEZZO_UPDATE_RULE(name, Formula, norms) \
  if (rule == #name) return set_##name;
#include <mezzo/ops/rows/update_rules.def>
#undef MEZZO_UPDATE_RULE
  fail<NameError>("[optimizer_update]", "unknown rule \"{}\"", rule);
}

}  // namespace

RuleNumbers<double> rule_numbers(const std::string& rule, const Attributes& attributes, double learning_rate,
                                 double count) {
  const RuleStep step(attributes, learning_rate, count);
  Numbers n = common_numbers(step);
  find_numbers(rule)(n, step);
  return n;
}

void set_norms(RuleNumbers<double>& numbers, const std::string& rule, const Attributes& attributes,
               double learning_rate, double variable, double other) {
  const bool known = variable > 0 && other > 0;
  if (rule_norms(rule) == RuleNorms::of_change) {
    numbers.rate = known ? variable / other * learning_rate : learning_rate;
    return;
  }
  if (!attributes.get<bool>("adapts")) return;
  const double denominator = other + variable * numbers.keep_1 + attributes.get<double>("epsilon");
  numbers.scale = known ? attributes.get<double>("trust") * variable / denominator : 1;
}

}  // namespace mezzo
