// Steps of several ranks: sums of gradients, weights that other ranks update.
#include <mezzo/core/fail.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

Value StepContext::reduce(std::vector<Trained>& weights, Values& gradients, const Values& sums, const Value& factor,
                          const Value& loss) {
  const bool shards = ranks_.shards != nullptr;
  std::vector<Reduced> values;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    values.push_back({.value = gradients[i],
                      .factor = factor,
                      .sum = sums.empty() ? Value() : sums[i],
                      .errors = ranks_.feedback ? ranks_.feedback->of(*weights[i].variable) : nullptr,
                      .owner = shards ? ranks_.shards->owner(*weights[i].variable) : -1});
  }
  const bool joins_loss = !shards && !ranks_.feedback;  // which is sent with the gradients
  if (joins_loss) values.push_back({.value = loss});
  reduce_over_ranks(ranks_.communicator, values, last_reduced_);
  std::vector<Trained> kept;
  gradients.clear();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!values[i].value.defined()) continue;
    kept.push_back(weights[i]);
    gradients.push_back(values[i].value);
  }
  weights = std::move(kept);
  if (shards) return {};
  if (joins_loss) return values.back().value;
  std::vector<Reduced> last{{.value = loss}};
  reduce_over_ranks(ranks_.communicator, last, last_reduced_);
  return last.front().value;
}

void StepContext::require_unread() const {
  for (const auto& variables : sharded_) {
    for (const auto& variable : variables) {
      if (Trace::current()->reads(variable).restarts) continue;
      fail<ValueError>("[Trainer]",
                       "steps with shard_optimizer_states must not read weights after their update, which another rank "
                       "makes; got a step that reads \"{}\"",
                       variable->name);
    }
  }
}

void StepRunner::end_of_ranks() {
  state_.transfers.clear();
  for (const auto& bucket : step_->buckets) state_.transfers.push_back(bucket->last_transfer());
  const auto& feedback = state_.rank_states ? state_.rank_states->feedback() : nullptr;
  if (feedback && skipped_) {
    feedback->clear();
    for (const auto& bucket : step_->buckets) bucket->forget_errors();
  }
  const UpdateGroups groups(state_.optimizers.size());
  for (std::size_t i = 0; i < step_->sharded.size(); ++i) {
    if (step_->sharded[i].empty() || !step_->plan->committed(groups.of(i, 0))) continue;
    state_.transfers.push_back(state_.rank_states->gather(step_->sharded[i]));
  }
}

}  // namespace mezzo::detail
