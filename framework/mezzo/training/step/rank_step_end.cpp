#include <mezzo/training/step/rank_step_end.hpp>

#include <mezzo/training/step/step_updates.hpp>

namespace mezzo::detail {

void end_rank_step(TrainingState& state, const CompiledStep& step, bool skipped) {
  state.transfers.clear();
  for (const auto& bucket : step.buckets) state.transfers.push_back(bucket->last_transfer());
  const auto& feedback = state.rank_states ? state.rank_states->feedback() : nullptr;
  if (feedback && skipped) {
    feedback->clear();
    for (const auto& bucket : step.buckets) bucket->forget_errors();
  }
  const UpdateGroups groups(state.optimizers.size());
  for (std::size_t i = 0; i < step.sharded.size(); ++i) {
    if (step.sharded[i].empty() || !step.plan->committed(groups.of(i, 0))) continue;
    state.transfers.push_back(state.rank_states->gather(step.sharded[i]));
  }
}

}  // namespace mezzo::detail
