#include <mezzo/training/step/rank_masters.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/ranks/rank_rounds.hpp>
#include <mezzo/training/step/master_weights.hpp>
#include <mezzo/training/step/optimizer_weights.hpp>
#include <mezzo/training/step/step_context.hpp>

namespace mezzo::detail {

void RankMasters::split(const Module& module, const PipelineOptions& passes,
                        const std::function<std::vector<Graph>()>& steps) {
  if (communicator_->size() == 1) return;
  std::set<const VariableState*> copied, read;
  for (const Graph& step : steps()) copied.merge(copied_to_bfloat16(step, passes));
  std::vector<Variable> added;
  for (const Variable& weight : module.trainable_weights()) {
    VariableState& state = *weight.state();
    if (copied.count(&state) == 0 || state.remainder || state.regularizer) continue;
    state.split();
    added.push_back(weight);
  }
  for (const Graph& step : steps()) read.merge(read_by(run_passes(step, passes)));
  for (const Variable& weight : module.trainable_weights()) {
    VariableState& state = *weight.state();
    if (!state.remainder || state.regularizer || read.count(state.remainder.get()) == 1) continue;
    weights_.push_back(weight);
    divided_.insert(&state);
  }
  for (const Variable& weight : added) {
    if (!divides(*weight.state())) weight.state()->join();
  }
}

void RankMasters::require_readable(const Graph& step) const {
  const std::set<const VariableState*> read = read_by(step);
  for (const Variable& weight : weights_) {
    const VariableState& state = *weight.state();
    if (read.count(state.remainder.get()) == 0) continue;
    const int owner = shards_->owner_or(state, communicator_->rank());
    if (owner == communicator_->rank()) continue;
    fail<ValueError>(
        "[Trainer]",
        "steps with shard_optimizer_states must read \"{}\" in bfloat16 alone, as the first training step; "
        "got one that reads its float32 numbers, which rank {} has",
        state.name, owner);
  }
}

void RankMasters::drop_others() const {
  for (const Variable& weight : weights_) {
    VariableState& state = *weight.state();
    const int owner = shards_->owner_or(state, communicator_->rank());
    if (owner != communicator_->rank() && state.whole()) state.drop_remainder();
  }
}

void RankMasters::collect(bool at_all) const {
  RankVariableLists states(static_cast<std::size_t>(communicator_->size()));
  for (const Variable& weight : weights_) {
    const int owner = shards_->owner_or(*weight.state(), -1);
    if (owner == -1) continue;  // no step has updated it: it is whole at all ranks
    VariableState& remainder = *weight.state()->remainder;
    const bool sends = owner == communicator_->rank(), takes = at_all || communicator_->rank() == 0;
    if (!sends && takes) {
      remainder.value = Tensor::uninitialized(weight.shape(), DType::int16);
      remainder.filled = true;
    }
    states[static_cast<std::size_t>(owner)].push_back(sends || takes ? &remainder : nullptr);
  }
  send_in_rounds(states, [&](const std::vector<RankArray>& parts) {
    return at_all ? communicator_->start_all_gather(parts) : communicator_->start_gather(parts);
  });
}

void RankMasters::join(const OptimizerConfigs& optimizers) {
  collect(true);
  for (const Variable& weight : weights_) {
    const bool splits = std::any_of(optimizers.begin(), optimizers.end(), [&](const OptimizerConfig& config) {
      return config.optimizer->common().split_master_weights && trains(config, weight);
    });
    if (!splits) weight.state()->join();
  }
  weights_.clear();
  divided_.clear();
}

}  // namespace mezzo::detail
