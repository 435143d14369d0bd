#include <mezzo/training/loops/auto_precision.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <mezzo/core/output.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/training/step/step_trials.hpp>

namespace mezzo::detail {
namespace {

constexpr int compared_steps = 6;         // timed steps of the first round, whose losses are compared
constexpr double least_seconds = 0.05;    // timed per policy and round: short steps are repeated
constexpr double short_seconds = 1;       // timed steps of a round up to which a policy takes part in the next
constexpr double enough_seconds = 10;     // ends the first round of a policy before compared_steps
constexpr double agreement = 0.05;        // largest difference of losses, relative to the largest: amplified rounding
constexpr double worthwhile_gain = 1.05;  // smaller gains are within the noise of so few steps

/// A policy that may be chosen.
struct Candidate : Trial {
  std::string fault{};  ///< reason against choosing it; "": none
};

/// Reason against choosing a trial, compared with that of float32; "" if there is none.
std::string fault_of(const Candidate& trial, const Candidate& float32) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < std::min(trial.losses.size(), float32.losses.size()); ++i) {
    largest = std::max(largest, std::abs(float32.losses[i]));
    if (!std::isnan(trial.losses[i])) difference = std::max(difference, std::abs(trial.losses[i] - float32.losses[i]));
  }
  if (!std::isfinite(trial.time())) return "every step overflows";
  if (difference <= agreement * largest) return {};
  return fmt::format("its losses differ by {:.2g} from float32's, of up to {:.2g}", difference, largest);
}

std::string trial_text(const Candidate& trial) {
  const std::string time = std::isfinite(trial.time()) ? fmt::format(" {:.3g} ms a step", 1e3 * trial.time()) : "";
  return fmt::format("{}{}{}", trial.policy.name(), time, trial.fault.empty() ? "" : fmt::format(" ({})", trial.fault));
}

}  // namespace

Policy choose_policy(Module& module, const DataLoader& loader, const RunOptions& run) {
  const IdleScope idle(module);  // other threads wait until the trials have restored the state
  const KeptTraining kept(module);
  const std::vector<HostBatch> batches = sample(loader, warm_up_steps + compared_steps);
  std::vector<Candidate> trials(run.int8_inside ? 4 : 3);
  trials[0].policy = "float32";
  trials[1].policy = "mixed_bfloat16";
  trials[2].policy = "mixed_float16";
  if (run.int8_inside) trials[3].policy = "mixed_int8";
  in_turns(trials, timing_rounds, short_seconds, [&](Candidate& trial, int round) {
    RunOptions own = run;
    own.policy = trial.policy;
    // An error in float32 would occur under every policy, so the first round of float32 alone throws.
    own.silent = round > 0 || &trial != &trials.front();
    Round length{.steps = 1, .least_seconds = least_seconds};
    if (round == 0) length = {.steps = compared_steps, .least_seconds = least_seconds, .most_seconds = enough_seconds};
    take_steps(module, batches, own, length, trial);
  });
  for (Candidate& trial : trials) trial.fault = fault_of(trial, trials.front());
  const Candidate* best = &trials.front();
  for (const Candidate& trial : trials) {
    if (trial.fault.empty() && trial.time() * worthwhile_gain < best->time()) best = &trial;
  }
  std::vector<std::string> texts;
  for (const Candidate& trial : trials) texts.push_back(trial_text(trial));
  write_output(fmt::format("[Trainer] precision \"{}\" is {}: {}\n", run.int8_inside ? "auto-int8" : "auto",
                           best->policy.name(), fmt::join(texts, ", ")));
  return best->policy;
}

}  // namespace mezzo::detail
