#include <mezzo/nn/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/nn/coded_slots.hpp>
#include <mezzo/nn/loop_step.hpp>

namespace mezzo {
namespace {

bool is_half(const detail::VariableState& variable) {
  return variable.dtype() == DType::bfloat16 || variable.dtype() == DType::float16;
}

void check_pattern(const std::string& where, const char* option, const std::string& text) {
  try {
    const detail::Pattern pattern(text);
  } catch (const std::runtime_error& error) {
    fail<ValueError>(where, "{} must be regular expressions; got \"{}\": {}", option, text, error.what());
  }
}

bool matches(const ParameterGroup& group, const std::string& path) {
  return detail::Pattern(group.match).matches(path);
}

}  // namespace

StateDType::StateDType(const char* name) : StateDType(std::string(name)) {}

StateDType::StateDType(const std::string& name) : dtype(DType::float32) {
  if (name == "bfloat16") dtype = DType::bfloat16;
  if (name == "int8") dtype = DType::int8;
  const std::vector<std::string_view> valid{"float32", "bfloat16", "int8"};
  if (name != dtype_name(dtype)) fail_unknown("", "state_dtype", name, valid);
}

void detail::fail_second_learning_rate(const char* kind) {
  fail<ValueError>(fmt::format("[{}]", kind),
                   "learning_rate must be given once; got it as the first argument and as .learning_rate");
}

Optimizer::Optimizer(std::string kind, OptimizerCommon common) : kind_(std::move(kind)), common_(std::move(common)) {
  const std::string where = "[" + kind_ + "]";
  require_at_least_0("learning_rate", common_.learning_rate.at(0));
  require_at_least_0("weight_decay", common_.weight_decay);
  std::vector<std::string> clips, storages;
  for (const auto& [option, value] :
       {std::pair("clipnorm", common_.clipnorm), std::pair("clipvalue", common_.clipvalue),
        std::pair("global_clipnorm", common_.global_clipnorm)}) {
    require_at_least_0(option, value);
    if (value > 0) clips.push_back(fmt::format("{} = {}", option, value));
  }
  if (clips.size() > 1) {
    fail<ValueError>(where, "at most one of clipnorm, clipvalue and global_clipnorm may be set; got {}",
                     fmt::join(clips, ", "));
  }
  if (common_.split_master_weights) storages.emplace_back("split_master_weights");
  if (common_.stochastic_rounding) storages.emplace_back("stochastic_rounding");
  if (common_.kahan_summation) storages.emplace_back("kahan_summation");
  if (storages.size() > 1) {
    fail<ValueError>(where,
                     "at most one of split_master_weights, stochastic_rounding and kahan_summation may be set; got {}",
                     fmt::join(storages, ", "));
  }
  const DType states = common_.state_dtype;
  if (states != DType::float32 && states != DType::bfloat16 && states != DType::int8) {
    fail<ValueError>(where, "state_dtype must be float32, bfloat16 or int8; got {}", states);
  }
  check_windows();
  for (const ParameterGroup& group : common_.groups) {
    check_pattern(where, "matches of groups", group.match);
    require(!group.match.empty(), "every group must have a match; got one without");
    require_at_least_0("learning_rate_factor of a group", group.learning_rate_factor);
    require_at_least_0("weight_decay of a group", group.weight_decay.value_or(0));
  }
}

void Optimizer::check_windows() const {
  require(common_.ema_momentum >= 0 && common_.ema_momentum <= 1,
          fmt::format("ema_momentum must lie in [0, 1]; got {}", common_.ema_momentum));
  require(common_.ema_overwrite_frequency >= 0,
          fmt::format("ema_overwrite_frequency must not be negative; got {}", common_.ema_overwrite_frequency));
  const bool averages = common_.ema_momentum != OptimizerCommon().ema_momentum || common_.ema_overwrite_frequency > 0;
  require(common_.use_ema || !averages, "ema_momentum and ema_overwrite_frequency need use_ema; got them without");
  const std::int64_t steps = common_.gradient_accumulation_steps;
  require(steps == 0 || steps >= 2, fmt::format("gradient_accumulation_steps must be at least 2; got {}", steps));
}

void Optimizer::require_effect(const std::vector<std::shared_ptr<detail::VariableState>>& variables) const {
  const auto any = [&](const auto& property) {
    return std::any_of(variables.begin(), variables.end(), [&](const auto& variable) { return property(*variable); });
  };
  const auto is = [](DType dtype) {
    return [dtype](const detail::VariableState& variable) { return variable.dtype() == dtype; };
  };
  const std::string none = fmt::format("none of {} variables is", variables.size());
  if (common_.stochastic_rounding) {
    require(!any(is(DType::float16)),
            "stochastic_rounding acts on bfloat16 variables; got a float16 variable, for which there is "
            "kahan_summation");
    require(any(is(DType::bfloat16)), "stochastic_rounding acts on bfloat16 variables; " + none);
  }
  if (common_.kahan_summation) {
    require(any(is_half), "kahan_summation acts on bfloat16 and float16 variables; " + none);
  }
  if (common_.split_master_weights) {
    require(any([](const detail::VariableState& variable) { return variable.remainder != nullptr; }),
            "split_master_weights acts on float32 variables that layers read in bfloat16, as under mixed_bfloat16; " +
                none);
  }
  if (common_.state_dtype != DType::float32) {
    require(any([](const detail::VariableState& variable) { return variable.dtype() != DType::float64; }),
            "state_dtype acts on slots of variables that are not float64; " + none);
  }
  if (common_.state_dtype == DType::int8) {
    require(any([](const detail::VariableState& variable) { return detail::is_large(variable); }),
            fmt::format("state_dtype of int8 acts on slots of variables with at least {} elements; {}",
                        detail::least_coded_size, none));
  }
}

void Optimizer::require_groups(const std::vector<std::string>& paths) const {
  for (const ParameterGroup& group : common_.groups) {
    const bool used =
        std::any_of(paths.begin(), paths.end(), [&](const std::string& path) { return matches(group, path); });
    require(used, fmt::format("every group must match a variable; got \"{}\", which matches none of: {}", group.match,
                              fmt::join(paths, ", ")));
  }
  for (const std::string& path : paths) group_of(path);
}

const ParameterGroup* Optimizer::group_of(const std::string& path) const {
  const ParameterGroup* found = nullptr;
  for (const ParameterGroup& group : common_.groups) {
    if (!matches(group, path)) continue;
    require(found == nullptr, fmt::format("a variable may be in one group; got \"{}\", which \"{}\" and \"{}\" match",
                                          path, found == nullptr ? "" : found->match, group.match));
    found = &group;
  }
  return found;
}

std::int64_t Optimizer::iterations() const {
  detail::LoopStep::refuse_frozen(name(), "iterations()", "use step(), a Value of the run");
  return state_->iterations;
}

double Optimizer::learning_rate(std::int64_t later) const {
  check_not_moved();
  detail::LoopStep::refuse_frozen(name(), "learning_rate()", "apply() reads the rate of each run");
  const detail::LearningRate& rate = state_->learning_rate ? *state_->learning_rate : common_.learning_rate;
  return rate.at(state_->iterations + later);
}

void Optimizer::set_learning_rate(const detail::LearningRate& learning_rate) {
  check_not_moved();
  detail::LoopStep::refuse_frozen(name(), "set_learning_rate()", "the plan reads the rate of each run");
  const detail::LearningRate& before = state_->learning_rate ? *state_->learning_rate : common_.learning_rate;
  require(learning_rate.is_schedule() || !before.is_schedule(),
          fmt::format("set_learning_rate: the learning rate is a Schedule, which a number can't replace; got {}",
                      learning_rate.at(0)));
  require_at_least_0("set_learning_rate: learning_rate", learning_rate.at(state_->iterations));
  state_->learning_rate = learning_rate;
}

void Optimizer::exclude_from_weight_decay(const ExcludeOptions& options) {
  check_not_moved();
  require(state_->iterations == 0 && state_->accumulated == 0,
          fmt::format("exclude_from_weight_decay must be called before the first update; got a call after {}",
                      state_->iterations));
  for (const std::string& name : options.var_names) check_pattern("[" + kind_ + "]", "var_names", name);
  state_->excluded.clear();
  for (const Variable& variable : options.var_list) state_->excluded.push_back(variable.state());
  state_->excluded_names = options.var_names;
}

bool Optimizer::excluded(const detail::VariableState& variable, const std::string& path) const {
  const auto& names = state_->excluded_names;
  const auto& list = state_->excluded;
  return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.get() == &variable; }) ||
         std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return detail::Pattern(name).is_found_in(path); });
}

void Optimizer::reset() {
  State fresh;
  fresh.learning_rate = state_->learning_rate;
  fresh.excluded = state_->excluded;
  fresh.excluded_names = state_->excluded_names;
  *state_ = fresh;
}

void Optimizer::require(bool good, const std::string& text) const {
  if (!good) fail<ValueError>(label(), "{}", text);
}

void Optimizer::require_fraction(const char* option, double value) const {
  require(value >= 0 && value < 1, fmt::format("{} must lie in [0, 1); got {}", option, value));
}

void Optimizer::require_at_least_0(const char* option, double value) const {
  require(std::isfinite(value), fmt::format("{} must be finite; got {}", option, value));
  require(value >= 0, fmt::format("{} must not be negative; got {}", option, value));
}

void Optimizer::require_wide_states(const char* what) const {
  require(common_.state_dtype != DType::int8,
          fmt::format("state_dtype must be float32 or bfloat16, since 8 bits don't hold {}; got int8", what));
}

void Optimizer::require_moments(double beta_1, double beta_2, double epsilon) const {
  require_fraction("beta_1", beta_1);
  require_fraction("beta_2", beta_2);
  require_at_least_0("epsilon", epsilon);
}

}  // namespace mezzo
