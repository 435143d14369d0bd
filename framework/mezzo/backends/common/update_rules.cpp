#include <mezzo/backends/common/update_rules.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>

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

void set_nadam(Numbers& n, double beta_1, double rate, double count) {
  const double momentum = beta_1 * (1 - 0.5 * std::pow(0.96, count));
  const double next_momentum = beta_1 * (1 - 0.5 * std::pow(0.96, count + 1));
  const double product = momentum_product(beta_1, count);
  n.from_slot = rate * next_momentum / (1 - product * next_momentum);
  n.from_gradient = rate * (1 - momentum) / (1 - product);
}

}  // namespace

RuleNumbers<double> rule_numbers(const std::string& rule, const Attributes& attributes, double learning_rate,
                                 double count) {
  const auto number = [&](const char* name) { return attributes.get<double>(name); };
  Numbers n;
  n.rate = learning_rate;
  if (attributes.has("epsilon")) n.epsilon = number("epsilon");
  const bool has_betas = attributes.has("beta_1");
  const double beta_1 = has_betas ? number("beta_1") : 0, beta_2 = has_betas ? number("beta_2") : 0;
  const double rest_1 = 1 - std::pow(beta_1, count), rest_2 = 1 - std::pow(beta_2, count);
  if (has_betas) {
    n.keep_1 = beta_1;
    n.rest_1 = 1 - beta_1;
    n.keep_2 = beta_2;
    n.rest_2 = 1 - beta_2;
    n.scale = 1 / rest_2;
  }
  if (attributes.has("rho")) {
    n.keep_1 = number("rho");
    n.rest_1 = 1 - n.keep_1;
  }
  if (rule == "accumulate" || rule == "adagrad" || rule == "adadelta" || rule == "lion") return n;
  if (rule == "average") {
    n.rest_1 = count == 1 ? 1 : 1 - number("momentum");
  } else if (rule == "adamax") {
    n.rate = learning_rate / rest_1;
  } else if (rule == "amsgrad") {
    n.rate = learning_rate * std::sqrt(rest_2) / rest_1;
  } else if (rule == "nadam") {
    set_nadam(n, beta_1, learning_rate, count);
  } else if (rule == "rmsprop") {
    n.keep_2 = number("momentum");
    n.momentum = n.keep_2 > 0;
    n.centered = attributes.get<bool>("centered");
  } else if (rule == "ftrl") {
    n.keep_1 = -number("learning_rate_power");
    n.epsilon = number("l1");
    n.from_slot = 2 * number("shrinkage");
    n.scale = 2 * (number("l2") + number("beta") / (2 * learning_rate));
  } else if (rule == "lamb") {
    n.rate = 1;
    n.from_slot = 1 / rest_1;
  } else if (rule == "lars") {
    n.keep_1 = number("decay");
    n.keep_2 = number("momentum");
    n.momentum = n.keep_2 > 0;
    n.nesterov = attributes.get<bool>("nesterov");
  } else if (rule == "schedule_free_adamw") {
    const double warmup = number("warmup_steps");
    n.rate = learning_rate * (warmup > 0 ? std::min(count / warmup, 1.0) : 1);
    n.from_slot = 1 / count;  // weight of the new iterate in the average
  } else {
    fail<NameError>("[optimizer_update]", "unknown rule \"{}\"", rule);
  }
  return n;
}

void set_norms(RuleNumbers<double>& numbers, const std::string& rule, const Attributes& attributes,
               double learning_rate, double variable, double other) {
  const bool known = variable > 0 && other > 0;
  if (rule == "lamb") {
    numbers.rate = known ? variable / other * learning_rate : learning_rate;
    return;
  }
  if (!attributes.get<bool>("adapts")) return;
  const double denominator = other + variable * numbers.keep_1 + attributes.get<double>("epsilon");
  numbers.scale = known ? attributes.get<double>("trust") * variable / denominator : 1;
}

}  // namespace mezzo
