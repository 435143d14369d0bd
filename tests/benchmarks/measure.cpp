#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo_bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double loss_of(const mezzo::detail::StepRunner& runner) {
  const auto& logged = runner.logged();
  const auto is_loss = [](const mezzo::detail::Logged& entry) { return entry.name == "loss"; };
  const auto found = std::find_if(logged.begin(), logged.end(), is_loss);
  return runner.value(static_cast<std::size_t>(found - logged.begin()));
}

}  // namespace

double Measurement::mean() const {
  return std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
}

Measurement measure(mezzo::Model& model, const mezzo::HostBatch& batch, const mezzo::Policy& policy, double seconds) {
  using mezzo::Stage;
  constexpr int warm_ups = 3;
  constexpr std::size_t least = 5;
  Measurement result;
  const auto first = Clock::now();
  mezzo::detail::StepRunner runner(model, {.policy = policy});
  runner.rehearse(Stage::fit, batch);
  runner.configure(true);
  runner.run(Stage::fit, batch);
  result.first = seconds_since(first);
  for (int i = 0; i < warm_ups; ++i) runner.run(Stage::fit, batch);
  const auto start = Clock::now();
  while (seconds_since(start) < seconds || result.steps.size() < least) {
    const auto begin = Clock::now();
    runner.run(Stage::fit, batch);
    result.loss = loss_of(runner);
    result.steps.push_back(seconds_since(begin));
  }
  std::sort(result.steps.begin(), result.steps.end());
  const mezzo::Profile& profile = model.run_state()->last_plan->profile();
  result.first_touch = std::max(0.0, profile.first_run_time() * 1e-9 - result.median());
  return result;
}

}  // namespace mezzo_bench
