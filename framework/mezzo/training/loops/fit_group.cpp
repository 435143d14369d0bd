#include <mezzo/training/loops/fit_group.hpp>

#include <mezzo/training/loops/evaluation_loop.hpp>
#include <mezzo/training/loops/signals.hpp>
#include <mezzo/training/module/interrupted.hpp>
#include <mezzo/training/step/agreement.hpp>
#include <mezzo/training/step/group_start.hpp>

namespace mezzo::detail {
namespace {

/// Traced training and validation steps.
std::vector<Graph> rehearsed(const Fit& fit) {
  std::vector<Graph> out{rehearse_first(fit.runner, Stage::fit, fit.train)};
  for (std::size_t i = 0; i < fit.validation.size(); ++i) {
    const LoaderScope scope(fit.session, fit.runner, i);
    if (fit.limits.validations[i] > 0) out.push_back(rehearse_first(fit.runner, Stage::validate, fit.validation[i]));
  }
  return out;
}

}  // namespace

void start_in_group(const Fit& fit) {
  if (!fit.runner.group().shared()) return;
  SharedFacts facts{shared_fact("ckpt_by_samples", fit.settings.by_samples)};
  add_data(facts, "training data", fit.train, fit.limits.epoch);
  for (std::size_t i = 0; i < fit.validation.size(); ++i) {
    add_data(facts, fmt::format("validation data {}", i), fit.validation[i], fit.limits.validations[i]);
  }
  start_fit(fit.runner, facts, [&] { return rehearsed(fit); });
}

void agree_in_group(Fit& fit) {
  if (!fit.runner.group().shared()) return;
  fit.session.count_time();
  const Agreement all =
      agree(fit.runner.group(), fit.progress,
            {.stops = fit.session.stopping(), .signal = SignalScope::pending(), .seconds = fit.progress.seconds});
  if (all.stops) fit.session.stop();
  fit.agreed_seconds = all.seconds;
  if (all.signal != 0 && fit.settings.interruptible) throw Interrupted(all.signal);
}

}  // namespace mezzo::detail
