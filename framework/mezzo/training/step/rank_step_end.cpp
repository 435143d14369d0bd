#include <mezzo/training/step/rank_step_end.hpp>

#include <mezzo/training/step/step_updates.hpp>

namespace mezzo::detail {

void end_rank_step(const RankStates* states, const CompiledStep& step, bool skipped, std::vector<Transfer>& transfers) {
  transfers.clear();
  for (const auto& bucket : step.buckets) transfers.push_back(bucket->last_transfer());
  const auto& feedback = states != nullptr ? states->feedback() : nullptr;
  if (feedback && skipped) {
    feedback->clear();
    for (const auto& bucket : step.buckets) bucket->forget_errors();
  }
  const UpdateGroups groups(step.sharded.size());
  for (std::size_t i = 0; i < step.sharded.size(); ++i) {
    if (step.sharded[i].empty() || !step.plan->committed(groups.of(i, 0))) continue;
    transfers.push_back(states->gather(step.sharded[i]));
  }
}

}  // namespace mezzo::detail
