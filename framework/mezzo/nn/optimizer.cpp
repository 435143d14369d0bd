#include <mezzo/nn/optimizer.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

bool is_half(const VariableState& variable) {
  return variable.dtype() == DType::bfloat16 || variable.dtype() == DType::float16;
}

}  // namespace

Optimizer::Optimizer(std::string kind, OptimizerCommon common) : kind_(std::move(kind)), common_(std::move(common)) {
  const std::string where = "[" + kind_ + "]";
  const auto require_at_least_0 = [&](const char* option, double value) {
    if (!(value >= 0)) fail<ValueError>(where, "{} must not be negative; got {}", option, value);
  };
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
  if (common_.state_dtype != DType::float32 && common_.state_dtype != DType::bfloat16) {
    fail<ValueError>(where, "state_dtype must be float32 or bfloat16; got {}", common_.state_dtype);
  }
}

double Optimizer::learning_rate() const {
  const LearningRate& rate = state_->learning_rate ? *state_->learning_rate : common_.learning_rate;
  return rate.at(state_->iterations);
}

void Optimizer::set_learning_rate(const LearningRate& learning_rate) {
  const LearningRate& before = state_->learning_rate ? *state_->learning_rate : common_.learning_rate;
  require(learning_rate.is_schedule() || !before.is_schedule(),
          fmt::format("set_learning_rate: the learning rate is a Schedule, which a number can't replace; got {}",
                      learning_rate.at(0)));
  const double rate = learning_rate.at(state_->iterations);
  require(rate >= 0, fmt::format("set_learning_rate: learning_rate must not be negative; got {}", rate));
  state_->learning_rate = learning_rate;
}

void Optimizer::require_effect(const std::vector<std::shared_ptr<VariableState>>& variables) const {
  const auto any = [&](const auto& property) {
    return std::any_of(variables.begin(), variables.end(), [&](const auto& variable) { return property(*variable); });
  };
  const auto is = [](DType dtype) {
    return [dtype](const VariableState& variable) { return variable.dtype() == dtype; };
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
    require(any([](const VariableState& variable) { return variable.remainder != nullptr; }),
            "split_master_weights acts on float32 variables that layers read in bfloat16, as under mixed_bfloat16; " +
                none);
  }
  if (common_.state_dtype != DType::float32) {
    require(any([](const VariableState& variable) { return variable.dtype() != DType::float64; }),
            "state_dtype acts on slots of variables that are not float64; " + none);
  }
}

bool Optimizer::compensates(const VariableState& variable) const {
  return common_.kahan_summation && is_half(variable);
}

DType Optimizer::slot_dtype(const VariableState& variable) const {
  return variable.dtype() == DType::float64 ? DType::float64 : common_.state_dtype;
}

std::shared_ptr<VariableState> Optimizer::slot(const std::shared_ptr<VariableState>& variable, std::size_t index,
                                               const std::string& name, DType dtype) {
  auto& all = state_->slots;
  auto found =
      std::find_if(all.begin(), all.end(), [&](const Slots& entry) { return entry.variable.pointer() == variable; });
  if (found == all.end())
    found = all.insert(all.end(), Slots{.variable = Shared<VariableState>(variable), .values = {}});
  auto& slots = found->values;
  while (slots.size() <= index) slots.emplace_back(std::in_place, variable->name + "/" + name);
  VariableState& slot = *slots[index];
  if (!slot.filled) {
    slot.assign(Tensor(variable->value.shape(), dtype));
  } else if (slot.value.dtype() != dtype) {
    slot.value = slot.value.cast(dtype);
  }
  return slots[index].pointer();
}

void Optimizer::update(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step,
                       Update update) {
  std::vector<std::shared_ptr<VariableState>> kept{variable};
  const DType dtype = slot_dtype(*variable);
  const std::vector<std::string> names = slot_names();
  for (const std::string& name : names) kept.push_back(slot(variable, kept.size() - 1, name, dtype));
  const bool rounds = common_.stochastic_rounding && variable->dtype() == DType::bfloat16;
  if (variable->remainder) {
    kept.push_back(variable->remainder);
    update.attributes.set("kept", Kept::split);
  } else if (compensates(*variable)) {
    kept.push_back(slot(variable, names.size(), compensation_name, variable->dtype()));
    update.attributes.set("kept", Kept::kahan);
  } else if (rounds) {
    update.attributes.set("kept", Kept::stochastic);
  }
  if (rounds || (dtype == DType::bfloat16 && !names.empty())) {
    const std::uint64_t key = mix(key_of(step.path.empty() ? variable->name : step.path), key_of("update"));
    update.attributes.set("key", static_cast<std::int64_t>(key));
    update.numbers.push_back(runtime_scalar(RuntimeScalar::seed));
    update.numbers.push_back(step.count);
  }
  Values inputs{read_stored(variable), gradient};
  for (std::size_t i = 1; i < kept.size(); ++i) inputs.push_back(read_stored(kept[i]));
  inputs.insert(inputs.end(), update.numbers.begin(), update.numbers.end());
  const Values out = insert(*update.op, inputs, update.attributes);
  for (std::size_t i = 0; i < kept.size(); ++i) update_stored(kept[i], out[i]);
}

Value Optimizer::gradient_multiplier(const Value& gradient, const Step& step) const {
  if (common_.clipnorm == 0) return step.multiplier;
  const Value scale = 1.0 / step.multiplier;
  return insert(ops::gradient_multiplier, {scale, gradient}, {{"clipnorm", common_.clipnorm}}).front();
}

void Optimizer::require(bool good, const std::string& text) const {
  if (!good) fail<ValueError>("[" + kind_ + "]", "{}", text);
}

}  // namespace mezzo
