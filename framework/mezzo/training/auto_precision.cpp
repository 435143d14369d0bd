#include <mezzo/training/auto_precision.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <mezzo/core/output.hpp>

namespace mezzo::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warm_up_steps = 2, timed_steps = 6;  // of the first round, by whose losses policies are compared
constexpr double least_seconds = 0.05;             // for the timed steps of one policy: short ones are repeated
constexpr int rounds = 5;                 // in which policies whose steps are short take turns, so that what else the
constexpr double short_seconds = 1;       // machine does for a while meets none of them alone
constexpr double enough_seconds = 10;     // after which there are fewer of them
constexpr double agreement = 0.05;        // of the largest loss: rounding that a few steps have amplified
constexpr double worthwhile_gain = 1.05;  // less lies within the noise of so few steps

struct Trial {
  Policy policy;
  double seconds = std::numeric_limits<double>::infinity();  ///< the fastest step
  double taken = 0;                                          ///< seconds of its last round's timed steps
  std::vector<double> losses{};                              ///< NaN: the step was skipped
  std::string fault{};                                       ///< why it can't be chosen
};

/// The first batches that are as large as the very first one.
std::vector<HostBatch> sample(const DataLoader& loader) {
  std::vector<HostBatch> batches;
  BatchStream stream = loader.epoch(0);
  while (static_cast<int>(batches.size()) < warm_up_steps + timed_steps) {
    auto batch = stream.next();
    if (!batch) break;
    if (batches.empty() || batch->size == batches.front().size) batches.push_back(std::move(*batch));
  }
  return batches;
}

double loss_of(const StepRunner& runner) {
  const std::vector<Logged>& logged = runner.logged();
  for (std::size_t i = 0; i < logged.size(); ++i) {
    if (logged[i].name == "loss" && !runner.skipped()) return runner.value(i);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// The module's weights, put back when this ends.
class KeptWeights {
 public:
  explicit KeptWeights(const Module& module) {
    for (const Variable& weight : module.weights()) kept_.emplace_back(weight, weight.value().copy());
  }
  ~KeptWeights() {
    for (const auto& entry : kept_) entry.first.assign(entry.second);
  }
  KeptWeights(const KeptWeights&) = delete;
  KeptWeights& operator=(const KeptWeights&) = delete;

 private:
  std::vector<std::pair<Variable, Tensor>> kept_;
};

/// The module's optimizers and counters, put back when this ends.
class KeptTraining {
 public:
  explicit KeptTraining(TrainingState& state)
      : state_(state),
        optimizers_(state.optimizers),
        configured_(state.configured),
        step_(state.step),
        epoch_(state.epoch),
        batch_(state.batch) {
    for (const OptimizerConfig& config : optimizers_) numbers_.push_back(*config.optimizer->state());
  }
  ~KeptTraining() {
    for (const OptimizerConfig& config : state_.optimizers) *config.optimizer->state() = Optimizer::State();
    for (std::size_t i = 0; i < optimizers_.size(); ++i) *optimizers_[i].optimizer->state() = numbers_[i];
    state_.optimizers = optimizers_;
    state_.configured = configured_;
    state_.step = step_;
    state_.epoch = epoch_;
    state_.batch = batch_;
    state_.steps.clear();
  }
  KeptTraining(const KeptTraining&) = delete;
  KeptTraining& operator=(const KeptTraining&) = delete;

 private:
  TrainingState& state_;
  OptimizerConfigs optimizers_;
  std::vector<Optimizer::State> numbers_;
  bool configured_;
  std::int64_t step_, epoch_, batch_;
};

/// Steps of training under the trial's policy; losses are noted in its first round.
void take_steps(Module& module, const std::vector<HostBatch>& batches, const RunOptions& run, Trial& trial) {
  StepRunner runner(module, run);
  runner.rehearse(Phase::train, batches.front());
  runner.configure(true);
  const KeptWeights kept(module);
  const bool first = trial.losses.empty();
  Clock::time_point begin;
  for (int step = 0;; ++step) {
    if (step == warm_up_steps) begin = Clock::now();
    const auto start = Clock::now();
    runner.run(Phase::train, batches[static_cast<std::size_t>(step) % batches.size()]);
    const auto end = Clock::now();
    if (first && step < warm_up_steps + timed_steps) trial.losses.push_back(loss_of(runner));
    if (step < warm_up_steps) continue;
    if (!runner.skipped()) trial.seconds = std::min(trial.seconds, std::chrono::duration<double>(end - start).count());
    trial.taken = std::chrono::duration<double>(end - begin).count();
    const bool wanted = first && step + 1 < warm_up_steps + timed_steps;
    if (trial.taken > (wanted ? enough_seconds : least_seconds)) break;
  }
}

/// Why a trial can't be chosen beside float32's, or nothing.
std::string fault_of(const Trial& trial, const Trial& float32) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < std::min(trial.losses.size(), float32.losses.size()); ++i) {
    largest = std::max(largest, std::abs(float32.losses[i]));
    if (!std::isnan(trial.losses[i])) difference = std::max(difference, std::abs(trial.losses[i] - float32.losses[i]));
  }
  if (!std::isfinite(trial.seconds)) return "every step overflows";
  if (difference <= agreement * largest) return {};
  return fmt::format("its losses differ by {:.2g} from float32's, of up to {:.2g}", difference, largest);
}

std::string text_of(const Trial& trial) {
  std::string text = " " + trial.policy.name();
  if (std::isfinite(trial.seconds)) text += fmt::format(" {:.3g} ms a step", 1e3 * trial.seconds);
  return trial.fault.empty() ? text : text + " (" + trial.fault + ")";
}

}  // namespace

Policy choose_policy(Module& module, const DataLoader& loader, const RunOptions& run) {
  const KeptTraining kept(training_state(module));
  const std::vector<HostBatch> batches = sample(loader);
  std::vector<Trial> trials;
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16"}) trials.push_back(Trial{policy});
  for (int round = 0; round < rounds; ++round) {
    for (Trial& trial : trials) {
      if (trial.taken > short_seconds) continue;
      RunOptions own = run;
      own.policy = trial.policy;
      own.silent = round > 0 || &trial != &trials.front();  // what fails in float32 fails under every policy
      take_steps(module, batches, own, trial);
    }
  }
  for (Trial& trial : trials) trial.fault = fault_of(trial, trials.front());
  const Trial* best = &trials.front();
  for (const Trial& trial : trials) {
    if (trial.fault.empty() && trial.seconds * worthwhile_gain < best->seconds) best = &trial;
  }
  std::string text = "[Trainer] precision \"auto\" is " + best->policy.name() + ":";
  for (const Trial& trial : trials) text += (&trial == &trials.front() ? "" : ",") + text_of(trial);
  write_output(text + "\n");
  return best->policy;
}

}  // namespace mezzo::detail
