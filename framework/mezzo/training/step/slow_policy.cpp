#include <mezzo/training/step/slow_policy.hpp>

#include <algorithm>
#include <optional>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/training/step/emulation.hpp>
#include <mezzo/training/step/step_trials.hpp>

namespace mezzo::detail {
namespace {

bool is_16_bit(DType dtype) { return dtype == DType::bfloat16 || dtype == DType::float16; }

/// True if the step runs code of the user's program, which trial runs would call more often than training does.
bool calls_user(const Graph& step) {
  return std::any_of(step.nodes.begin(), step.nodes.end(),
                     [](const NodePtr& node) { return is(*node, ops::host) || is(*node, ops::print); });
}

}  // namespace

void warn_if_slow(Module& module, const DataLoader& train, const RunOptions& run, std::int64_t steps) {
  if (turned_off(slow_policy_switch) || run.eager || steps < least_steps_to_measure) return;
  std::vector<Trial> trials(2);
  {
    StepRunner runner(module, run);
    trials[0].policy = runner.policy_in_force();
    Notices& notices = runner.state().notices;
    if (!is_16_bit(computes_in(trials[0].policy)) || !notices.first(trials[0].policy.name())) return;
    if (calls_user(runner.rehearse(Stage::fit, *train.epoch(0).next()))) return;
  }
  const KeptTraining kept(module);
  constexpr int batches = 2;
  constexpr double short_seconds = 0.1;  // of a round; policies with longer steps have one round
  const std::vector<HostBatch> samples = sample(train, batches);
  in_turns(trials, timing_rounds, short_seconds, [&](Trial& trial, int round) {
    const bool float32 = &trial != &trials.front();
    RunOptions own = run;
    own.silent = round > 0 || float32;
    if (float32) own.policy = "float32";
    const auto inherited = float32 ? std::make_optional<NoLayerPolicies>(module) : std::nullopt;
    take_steps(module, samples, own, {.steps = 3, .least_seconds = 0.01, .most_seconds = 2}, trial);
  });
  const std::string text = slowness(trials[0].policy, trials[0].agreed_time(), trials[1].agreed_time());
  if (!text.empty()) warn(text);
}

std::string slowness(const Policy& policy, std::optional<double> seconds, std::optional<double> float32_seconds) {
  constexpr double noise = 0.9;  // smaller losses of speed may be errors of measurement
  if (!seconds || !float32_seconds || !(*float32_seconds < noise * *seconds)) return {};
  return fmt::format(
      "{} is slower than float32 for this model on this CPU: a step takes {:.3g} ms, in float32 {:.3g} ms (measured); "
      "precision \"auto\" measures the model and picks",
      policy.name(), 1e3 * *seconds, 1e3 * *float32_seconds);
}

}  // namespace mezzo::detail
