#include <mezzo/training/step/rank_states.hpp>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/coded_state.hpp>
#include <mezzo/training/ranks/rank_rounds.hpp>

namespace mezzo::detail {
namespace {

/// Slots of a variable, or null.
Optimizer::Slots* slots_of(const OptimizerConfig& config, const Variable& weight) {
  auto& all = config.optimizer->state()->slots;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& slots) { return slots.variable.get() == weight.id(); });
  return found == all.end() ? nullptr : &*found;
}

/// Slot i of a variable, made if there is none.
VariableState& slot_at(const OptimizerConfig& config, const Variable& weight, std::size_t i) {
  Optimizer::Slots* slots = slots_of(config, weight);
  if (slots == nullptr) {
    slots = &config.optimizer->state()->slots.emplace_back(Optimizer::Slots{weight.state(), {}});
  }
  std::vector<std::string> names = config.optimizer->all_slot_names();
  names.emplace_back(Optimizer::compensation_name);
  while (slots->values.size() <= i) {
    slots->values.emplace_back(std::in_place, fmt::format("{}/{}", weight.name(), names[slots->values.size()]));
  }
  return *slots->values[i];
}

/// Index of the accumulated gradients among the slots; their number if there are none.
std::size_t accumulator_of(const OptimizerConfig& config) {
  const std::vector<std::string> names = config.optimizer->all_slot_names();
  const auto found = std::find(names.begin(), names.end(), Optimizer::accumulator_name);
  return found == names.end() ? names.size() + 1 : static_cast<std::size_t>(found - names.begin());
}

}  // namespace

/// A slot of a weight: indices of the optimizer, of the module's weights, of the optimizer's slots.
struct RankStates::Part {
  std::size_t optimizer = 0, weight = 0, slot = 0;
  DType dtype = DType::float32;
  Shape shape;

  /// True for a slot in 8 bits, whose scales follow it.
  bool coded() const { return dtype == DType::int8 || dtype == DType::uint8; }

  std::string text() const {
    return fmt::format("{} {} {} {} {} {}\n", optimizer, weight, slot, static_cast<int>(dtype), shape.size(),
                       fmt::join(shape, " "));
  }

  static std::vector<Part> read(const std::string& text) {
    std::vector<Part> out;
    std::istringstream in(text);
    Part part;
    for (int dtype = 0, axes = 0; in >> part.optimizer >> part.weight >> part.slot >> dtype >> axes;) {
      part.dtype = static_cast<DType>(dtype);
      part.shape.assign(static_cast<std::size_t>(axes), 0);
      for (auto& size : part.shape) in >> size;
      out.push_back(part);
    }
    return out;
  }
};

RankStates::RankStates(std::shared_ptr<Communicator> communicator, Module& module, bool shards, bool compresses)
    : communicator_(std::move(communicator)),
      module_(module),
      shards_(shards ? std::make_shared<RankShards>(communicator_->size()) : nullptr),
      feedback_(compresses ? std::make_shared<GradientFeedback>() : nullptr) {
  if (shards) masters_.emplace(communicator_, shards_);
}

bool RankStates::divided(const OptimizerConfigs& optimizers) const {
  return shards_ || std::any_of(optimizers.begin(), optimizers.end(), [](const OptimizerConfig& config) {
           return config.optimizer->state()->accumulated > 0;
         });
}

void RankStates::divide(const OptimizerConfigs& optimizers) {
  RankShards::Variables known;
  for (const Variable& weight : module_.weights()) {
    for (const OptimizerConfig& config : optimizers) {
      const Optimizer::Slots* const slots = slots_of(config, weight);
      if (slots == nullptr) continue;
      known.push_back(weight.state().pointer());
      const std::size_t sum = accumulator_of(config);
      if (communicator_->rank() == 0 || slots->values.size() <= sum || !slots->values[sum]->filled) continue;
      VariableState& state = *slots->values[sum];  // rank 0 has the sum
      state.store(Tensor(state.value.shape(), state.value.dtype()));
    }
  }
  if (!shards_) return;
  shards_->assign(known);
  drop_others(optimizers);
}

void RankStates::drop_others(const OptimizerConfigs& optimizers) const {
  if (!shards_) return;
  masters_->drop_others();
  for (const OptimizerConfig& config : optimizers) {
    const std::size_t sum = accumulator_of(config);
    for (Optimizer::Slots& slots : config.optimizer->state()->slots) {
      if (shards_->owner(*slots.variable) == communicator_->rank()) continue;
      for (std::size_t i = 0; i < slots.values.size(); ++i) {
        if (i != sum) slots.values[i] = Shared<VariableState>(std::in_place, slots.values[i]->name);
      }
    }
  }
}

void RankStates::join(const OptimizerConfigs& optimizers) {
  make_whole(optimizers, true);
  if (masters_) masters_->join(optimizers);
}

void RankStates::make_whole(const OptimizerConfigs& optimizers, bool at_all) {
  add_up(optimizers, at_all);
  collect(optimizers, at_all);
  if (masters_) masters_->collect(at_all);
}

void RankStates::begin_save(const OptimizerConfigs& optimizers) {
  if (!saves_) {
    fail<ValueError>(
        "[Trainer]",
        "save_checkpoint: in a fit of several ranks that divide optimizer states or accumulated gradients, "
        "it must be called at rank 0 by a callback whose saves() is true; got another call at rank {}",
        communicator_->rank());
  }
  tell(Help::states);
  make_whole(optimizers, false);
}

void RankStates::end_save(const OptimizerConfigs& optimizers) {
  for (const auto& [state, own] : own_sums_) state->store(own);
  own_sums_.clear();
  drop_others(optimizers);
}

void RankStates::begin_reading() {
  if (!masters_) return;
  if (readers_ == 0) {
    if (saves_) tell(Help::weights);
    masters_->collect(!saves_);
  }
  ++readers_;
}

void RankStates::end_reading() {
  if (masters_ && --readers_ == 0) masters_->drop_others();
}

void RankStates::help(const OptimizerConfigs& optimizers) {
  for (Help needed = tell(Help::none); needed != Help::none; needed = tell(Help::none)) {
    if (needed == Help::states) {
      make_whole(optimizers, false);
    } else {
      masters_->collect(false);
    }
  }
}

RankStates::Help RankStates::tell(Help needed) const {
  auto number = static_cast<std::int32_t>(needed);
  communicator_->broadcast({&number, 1, DType::int32});
  return static_cast<Help>(number);
}

void RankStates::add_up(const OptimizerConfigs& optimizers, bool at_all) {
  for (const OptimizerConfig& config : optimizers) {
    if (config.optimizer->state()->accumulated == 0) continue;
    const std::size_t sum = accumulator_of(config);
    for (const Variable& weight : module_.weights()) {
      const Optimizer::Slots* const slots = slots_of(config, weight);
      if (slots == nullptr || slots->values.size() <= sum || !slots->values[sum]->filled) continue;
      const auto& state = slots->values[sum].pointer();
      Tensor all = state->value.copy();
      communicator_->all_reduce({all.mutable_raw(), all.size(), all.dtype()});
      if (!at_all && communicator_->rank() > 0) continue;
      if (!at_all) own_sums_.emplace_back(state, state->value);
      state->store(all);
    }
  }
}

std::vector<RankStates::Part> RankStates::own_parts(const OptimizerConfigs& optimizers) const {
  std::vector<Part> out;
  const std::vector<Variable> weights = module_.weights();
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    const std::size_t sum = accumulator_of(optimizers[i]);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const Optimizer::Slots* const slots = slots_of(optimizers[i], weights[j]);
      if (slots == nullptr || shards_->owner(*slots->variable) != communicator_->rank()) continue;
      for (std::size_t k = 0; k < slots->values.size(); ++k) {
        const VariableState& state = *slots->values[k];
        if (k != sum && state.filled) out.push_back({i, j, k, state.value.dtype(), state.value.shape()});
      }
    }
  }
  return out;
}

void RankStates::collect(const OptimizerConfigs& optimizers, bool at_all) const {
  if (!shards_) return;
  std::string own;
  for (const Part& part : own_parts(optimizers)) own += part.text();
  const std::vector<std::string> texts = communicator_->gather_texts(own);
  const std::vector<Variable> weights = module_.weights();
  RankVariableLists states(texts.size());
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const bool sends = static_cast<int>(rank) == communicator_->rank();
    for (const Part& part : Part::read(texts[rank])) {
      VariableState* state = nullptr;
      if (sends || at_all || communicator_->rank() == 0) {
        state = &slot_at(optimizers[part.optimizer], weights[part.weight], part.slot);
        if (!sends) state->assign(Tensor(part.shape, part.coded() ? DType::float32 : part.dtype));
        if (!sends && part.coded()) encode(*state, part.dtype);
      }
      states[rank].push_back(state);
      if (part.coded()) states[rank].push_back(state == nullptr ? nullptr : state->remainder.get());
    }
  }
  send_in_rounds(states, [&](const std::vector<RankArray>& parts) {
    return at_all ? communicator_->start_all_gather(parts) : communicator_->start_gather(parts);
  });
}

Transfer RankStates::gather(const RankShards::Variables& weights) const {
  Transfer transfer{.name = "all_gather", .start = std::chrono::steady_clock::now()};
  RankVariableLists states(static_cast<std::size_t>(communicator_->size()));
  for (const auto& weight : weights) {
    const int owner = shards_->owner(*weight);
    states[static_cast<std::size_t>(owner)].push_back(weight.get());
    const bool sends_rest = weight->remainder && !divides(*weight);
    if (sends_rest) states[static_cast<std::size_t>(owner)].push_back(weight->remainder.get());
  }
  transfer.bytes = send_in_rounds(
      states, [&](const std::vector<RankArray>& parts) { return communicator_->start_all_gather(parts); });
  for (std::size_t rank = 0; rank < states.size(); ++rank) {
    if (static_cast<int>(rank) == communicator_->rank()) continue;
    for (VariableState* const state : states[rank]) ++state->version;
  }
  masters_->drop_others();  // of before the update
  transfer.end = std::chrono::steady_clock::now();
  return transfer;
}

}  // namespace mezzo::detail
