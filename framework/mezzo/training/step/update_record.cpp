#include <mezzo/training/step/update_record.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/step/step_updates.hpp>

namespace mezzo::detail {
namespace {

/// True if the next skip causes a warning: skips 1, 2, 3, 4, 8, 16, ... of the optimizer do, counted over all epochs. A
/// warning at each skip would be noise, since the first steps of a dynamic scale often overflow.
bool warns_at_next_skip(const LossScale& scale) {
  const std::int64_t count = scale.skipped() + 1;
  return count <= 3 || (count & (count - 1)) == 0;
}

std::string named(const std::string& name) { return name.empty() ? "" : fmt::format(" of optimizer \"{}\"", name); }

}  // namespace

void UpdateRecord::begin(Communicator* ranks) {
  ranks_ = ranks;
  skipped_ = updated_ = false;
  failure_.clear();
}

bool UpdateRecord::seeks_overflow(const std::vector<AppliedOptimizer>& applied) const {
  return !silent_ && std::any_of(applied.begin(), applied.end(), [&](const AppliedOptimizer& one) {
    const LossScale& scale = optimizers_[one.optimizer].optimizer->state()->loss_scale;
    return warns_at_next_skip(scale) || scale.at_floor();
  });
}

void UpdateRecord::count(const AppliedOptimizer& applied, const std::function<UpdateResult(int)>& result_of,
                         const std::function<std::optional<Overflow>(int)>& overflow_in) {
  const OptimizerConfig& config = optimizers_[applied.optimizer];
  Optimizer::State& state = *config.optimizer->state();
  const UpdateGroups groups(optimizers_.size());
  std::optional<int> skipped;  // first group
  for (std::size_t call = 0; call < applied.calls; ++call) {
    const int group = groups.of(applied.optimizer, call);
    const UpdateResult result = result_of(group);
    if (result == UpdateResult::skipped && !skipped) skipped = group;
    if (result != UpdateResult::committed) continue;
    updated_ |= config.optimizer->completes_window();
    config.optimizer->count_step();
  }
  skipped_ |= skipped.has_value();
  scaled_.resize(optimizers_.size());
  scaled_[applied.optimizer] = applied.scaled;
  if (!applied.scaled) return;
  const bool committed = !skipped;
  // Before update(), which changes the scale and the number of skips.
  const double before = state.loss_scale.scale();
  const bool warns = !committed && !silent_ && warns_at_next_skip(state.loss_scale);
  std::string origin;
  if (warns || (!committed && !silent_ && state.loss_scale.at_floor())) origin = origin_of(overflow_in(*skipped));
  if (!state.loss_scale.update(committed) && !silent_) {
    failure_ = fmt::format(
        "[Trainer] loss and gradients of step {}{} must be finite at the smallest loss scale, {:.8g}; got: {}",
        progress_.step, named(config.name), before, origin);
    return;
  }
  if (!warns || (ranks_ != nullptr && ranks_->rank() > 0)) return;
  const bool dynamic = state.loss_scale.options().dynamic;
  warn(fmt::format("[Trainer] step {}{} was skipped: {}; loss scale {:.8g}{}", progress_.step, named(config.name),
                   origin, before, dynamic ? fmt::format(" -> {:.8g}", state.loss_scale.scale()) : " is fixed"));
}

/// Text of the origin of a skip; with several ranks, of the rank that has computed its value first. All ranks call it.
std::string UpdateRecord::origin_of(const std::optional<Overflow>& overflow) const {
  std::string text = describe(overflow);
  if (ranks_ == nullptr) return text;
  // The value that was computed first caused those of the other ranks, which share gradients and statistics.
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::size_t first = never;
  for (const std::string& of_rank :
       ranks_->gather_texts(fmt::format("{} {}", overflow ? overflow->step : never, text))) {
    const std::size_t end = of_rank.find(' ');
    const std::size_t step = std::stoull(of_rank.substr(0, end));
    if (step >= first) continue;
    first = step;
    text = of_rank.substr(end + 1);
  }
  return text;
}

void UpdateRecord::resume() {
  scaled_.clear();
  for (const OptimizerConfig& config : optimizers_) {
    const LossScaleState& counted = config.optimizer->state()->loss_scale.state();
    scaled_.push_back(counted.finite_steps > 0 || counted.skipped > 0);
  }
}

}  // namespace mezzo::detail
