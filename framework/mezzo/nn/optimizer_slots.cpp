// Slots of an optimizer and the nodes that update them.
#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/coded_state.hpp>
#include <mezzo/graph/read_codes.hpp>
#include <mezzo/nn/coded_slots.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

constexpr const char* average_name = "average";

bool is_16_bits(const detail::VariableState& variable) {
  return variable.dtype() == DType::bfloat16 || variable.dtype() == DType::float16;
}

/// Gives a slot its first value; an empty one stands for zeros. With int8, zeros are stored in 8 bits at once.
void fill(detail::VariableState& slot, const std::string& name, const Tensor& first, const Shape& shape, DType dtype) {
  if (first.size() > 0) {
    slot.assign(first.cast(dtype == DType::int8 ? DType::float32 : dtype));
  } else if (dtype == DType::int8) {
    detail::encode_zeros(slot, shape, detail::code_dtype(name));
  } else {
    slot.assign(Tensor(shape, dtype));
  }
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

Value one() { return Tensor::scalar(1, DType::float64); }

}  // namespace

bool Optimizer::compensates(const detail::VariableState& variable) const {
  return common_.kahan_summation && is_16_bits(variable);
}

DType Optimizer::slot_dtype(const std::shared_ptr<detail::VariableState>& variable) const {
  if (variable->dtype() == DType::float64) return DType::float64;
  if (common_.state_dtype != DType::int8) return common_.state_dtype;
  return detail::is_large(*variable) && !detail::only_looked_up(variable) ? DType::int8 : DType::float32;
}

std::vector<std::string> Optimizer::all_slot_names() const {
  std::vector<std::string> names = slot_names();
  if (accumulation_steps() > 1) names.emplace_back(accumulator_name);
  if (common_.use_ema) names.emplace_back(average_name);
  return names;
}

Shape Optimizer::shape_of_slot(const std::string& slot, const Shape& variable) const {
  const bool own = slot == accumulator_name || slot == average_name || slot == compensation_name;
  return own ? variable : slot_shape(slot, variable);
}

bool Optimizer::has_slot_after(const std::string& slot, const Shape& variable, std::int64_t iterations,
                               std::int64_t accumulated) const {
  if (slot == accumulator_name) return accumulated > 0;
  return iterations > 0 && (slot == average_name || needs_slot(slot, variable));
}

Tensor Optimizer::initial_slot(const std::string&, const detail::VariableState&) const { return {}; }

Optimizer::Slots& Optimizer::slots_of(const std::shared_ptr<detail::VariableState>& variable) {
  auto& all = state_->slots;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Slots& entry) { return entry.variable.pointer() == variable; });
  if (found != all.end()) return *found;
  return all.emplace_back(Slots{detail::Shared<detail::VariableState>(variable), {}});
}

std::shared_ptr<detail::VariableState> Optimizer::slot(const std::shared_ptr<detail::VariableState>& variable,
                                                       const std::string& name, DType dtype) {
  std::vector<std::string> names = all_slot_names();
  names.emplace_back(compensation_name);
  auto& slots = slots_of(variable).values;
  const std::size_t index = index_of(names, name);
  while (slots.size() <= index) slots.emplace_back(std::in_place, variable->name + "/" + names[slots.size()]);
  detail::VariableState& slot = *slots[index];
  if (!slot.filled) {
    fill(slot, name, initial_slot(name, *variable), shape_of_slot(name, variable->value.shape()), dtype);
  }
  if (dtype == DType::int8) {
    if (!detail::is_coded(slot)) detail::encode(slot, detail::code_dtype(name));
  } else {
    if (slot.value.dtype() != dtype) slot.value = slot.numbers().cast(dtype);
    slot.remainder.reset();
  }
  return slots[index].pointer();
}

std::vector<Variable> Optimizer::variables() const {
  std::vector<Variable> out;
  for (const Slots& slots : state_->slots) {
    for (const auto& slot : slots.values) {
      if (slot->filled) out.emplace_back(slot);
    }
  }
  return out;
}

void Optimizer::apply(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient, Step step) {
  const std::string path = step.path.empty() ? variable->name : step.path;
  const ParameterGroup* group = group_of(path);
  if (group != nullptr && group->learning_rate_factor != 1) {
    step.learning_rate = step.learning_rate * Value(Tensor::scalar(group->learning_rate_factor, DType::float64));
  }
  const bool own_decay = group != nullptr && group->weight_decay.has_value();
  step.weight_decay = excluded(*variable, path) ? 0
                      : own_decay               ? *group->weight_decay
                                                : default_weight_decay(*variable, path);
  update_step(variable, gradient, step);
  if (common_.use_ema) update_average(variable, step);
}

void Optimizer::update_average(const std::shared_ptr<detail::VariableState>& variable, const Step& step) {
  const auto average = slot(variable, average_name, accumulation_dtype(variable->dtype()));
  const Values inputs{read_stored(average), detail::read_unrounded(variable), step.learning_rate, step.count, one()};
  update_stored(average, insert_one(ops::optimizer_update, inputs,
                                    {{"rule", std::string("average")},
                                     {"slots", std::int64_t{0}},
                                     {"momentum", common_.ema_momentum},
                                     {"weight_decay", 0.0},
                                     {"clipvalue", 0.0}}));
}

void Optimizer::accumulate(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                           const Value& multiplier) {
  const auto sum = slot(variable, accumulator_name, accumulation_dtype(variable->dtype()));
  update_stored(sum, insert_one(ops::optimizer_update, {read_stored(sum), gradient, one(), one(), multiplier},
                                {{"rule", std::string("accumulate")},
                                 {"slots", std::int64_t{0}},
                                 {"weight_decay", 0.0},
                                 {"clipvalue", 0.0}}));
}

Value Optimizer::accumulated(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                             const Value& multiplier) {
  const DType dtype = accumulation_dtype(variable->dtype());
  const Value wide = gradient.dtype() == dtype ? gradient : cast(gradient, dtype);
  return take_accumulated(variable) + wide * cast(multiplier, dtype);
}

Value Optimizer::take_accumulated(const std::shared_ptr<detail::VariableState>& variable) {
  const DType dtype = accumulation_dtype(variable->dtype());
  const auto sum = slot(variable, accumulator_name, dtype);
  Value total = read_stored(sum);
  update_stored(sum, broadcast_to(Tensor::scalar(0, dtype), variable->value.shape()));
  return total;
}

void Optimizer::count_step() {
  State& state = *state_;
  if (!completes_window()) {
    ++state.accumulated;
    return;
  }
  state.accumulated = 0;
  ++state.iterations;
  const std::int64_t frequency = common_.ema_overwrite_frequency;
  if (frequency > 0 && state.iterations % frequency == 0) finalize_variable_values();
}

void Optimizer::finalize_variable_values() {
  if (!common_.use_ema) return;
  state_->swapped.clear();  // after swap_averages() the weights are the averages, which stay
  const std::vector<std::string> names = all_slot_names();
  const std::size_t index = index_of(names, average_name);
  for (const Slots& slots : state_->slots) {
    if (slots.values.size() <= index || !slots.values[index]->filled) continue;
    slots.variable->assign(slots.values[index]->value);
    if (slots.values.size() <= names.size()) continue;
    detail::VariableState& compensation = *slots.values[names.size()];
    if (compensation.filled) compensation.assign(Tensor(compensation.value.shape(), compensation.value.dtype()));
  }
}

void Optimizer::swap_averages() {
  require(common_.use_ema, "swap_averages needs use_ema; got an optimizer without");
  State& state = *state_;
  if (!state.swapped.empty()) {
    for (const auto& [variable, weights] : state.swapped) variable->assign(weights);
    state.swapped.clear();
    return;
  }
  const std::size_t index = index_of(all_slot_names(), average_name);
  for (const Slots& slots : state.slots) {
    if (slots.values.size() <= index || !slots.values[index]->filled) continue;
    state.swapped.emplace_back(slots.variable, slots.variable->numbers());
    slots.variable->assign(slots.values[index]->value);
  }
}

void Optimizer::require_trainable() const {
  if (state_->swapped.empty()) return;  // in each step, without the allocation of a text
  require(false, "weights must be swapped back by swap_averages() before training goes on; got their averages");
}

void Optimizer::update(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient, const Step& step,
                       Update update) {
  std::vector<std::shared_ptr<detail::VariableState>> kept{variable};
  const DType dtype = update.slots.empty() ? DType::float32 : slot_dtype(variable);
  for (const std::string& name : update.slots) kept.push_back(slot(variable, name, dtype));
  const std::size_t slots_end = kept.size();
  const bool rounds = common_.stochastic_rounding && variable->dtype() == DType::bfloat16;
  if (variable->remainder) {
    kept.push_back(variable->remainder);
    update.attributes.set("kept", detail::Kept::split);
  } else if (compensates(*variable)) {
    kept.push_back(slot(variable, compensation_name, variable->dtype()));
    update.attributes.set("kept", detail::Kept::kahan);
  } else if (rounds) {
    update.attributes.set("kept", detail::Kept::stochastic);
  }
  for (std::size_t i = 1; i < slots_end; ++i) {
    if (dtype == DType::int8) kept.push_back(kept[i]->remainder);
  }
  if (rounds || dtype == DType::bfloat16) {
    const std::uint64_t key =
        detail::mix(detail::key_of(step.path.empty() ? variable->name : step.path), detail::key_of("update"));
    update.attributes.set("key", static_cast<std::int64_t>(key));
    update.numbers.push_back(detail::runtime_scalar(detail::RuntimeScalar::seed));
    update.numbers.push_back(step.count);
  }
  Values inputs{read_stored(variable), gradient};
  for (std::size_t i = 1; i < kept.size(); ++i) inputs.push_back(read_stored(kept[i]));
  inputs.insert(inputs.end(), update.numbers.begin(), update.numbers.end());
  const Values out = insert(*update.op, inputs, update.attributes);
  for (std::size_t i = 0; i < kept.size(); ++i) update_stored(kept[i], out[i]);
}

void Optimizer::update_by_rule(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                               const Step& step, const std::string& rule, const Attributes& numbers) {
  Attributes attributes{{"rule", rule}, {"slots", static_cast<std::int64_t>(slot_names().size())}};
  for (const auto& [name, value] : numbers.entries()) attributes.set(name, value);
  if (!attributes.has("weight_decay")) attributes.set("weight_decay", step.weight_decay);
  attributes.set("clipvalue", common_.clipvalue);
  update(variable, gradient, step,
         {.op = &ops::optimizer_update,
          .slots = slot_names(),
          .numbers = {step.learning_rate, step.count, gradient_multiplier(gradient, step)},
          .attributes = std::move(attributes)});
}

Value Optimizer::gradient_multiplier(const Value& gradient, const Step& step) const {
  if (common_.clipnorm == 0) return step.multiplier;
  const Value scale = 1.0 / step.multiplier;
  return insert(ops::gradient_multiplier, {scale, gradient}, {{"clipnorm", common_.clipnorm}}).front();
}

}  // namespace mezzo
