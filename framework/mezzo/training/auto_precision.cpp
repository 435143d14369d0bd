#include <mezzo/training/auto_precision.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>

#include <mezzo/core/output.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/precision/policy.hpp>

namespace mezzo::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warm_up_steps = 2, timed_steps = 6;  // in the first round; their losses are compared
constexpr double least_seconds = 0.05;             // timed per policy and round: short steps are repeated
// Policies with short steps take turns, so that a temporary load of the machine doesn't hit one of them alone.
constexpr int rounds = 5;
constexpr double short_seconds = 1;       // timed steps of a round up to which a policy takes part in the next
constexpr double enough_seconds = 10;     // ends the first round of a policy before timed_steps
constexpr double agreement = 0.05;        // largest difference of losses, relative to the largest: amplified rounding
constexpr double worthwhile_gain = 1.05;  // smaller gains are within the noise of so few steps

struct Trial {
  Policy policy;
  double seconds = std::numeric_limits<double>::infinity();  ///< of the fastest step
  double taken = 0;                                          ///< seconds of the timed steps of the last round
  std::vector<double> losses{};                              ///< of the first round; NaN: the step was skipped
  std::string fault{};                                       ///< reason against choosing it; "": none
};

/// First batches of the loader that have the size of the very first one.
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

/// Restores the module's weights on destruction.
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

/// Restores the module's optimizers and counters on destruction, and discards its plans.
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

/// Trains under the trial's policy and updates its times. Records losses in its first round.
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

/// Reason against choosing a trial, compared with that of float32; "" if there is none.
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
  const std::string time = std::isfinite(trial.seconds) ? fmt::format(" {:.3g} ms a step", 1e3 * trial.seconds) : "";
  return fmt::format("{}{}{}", trial.policy.name(), time, trial.fault.empty() ? "" : fmt::format(" ({})", trial.fault));
}

}  // namespace

Policy choose_policy(Module& module, const DataLoader& loader, const RunOptions& run) {
  const IdleScope idle(module);  // other threads wait until the trials have restored the state
  const KeptTraining kept(training_state(module));
  const std::vector<HostBatch> batches = sample(loader);
  std::vector<Trial> trials;
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16"}) trials.push_back(Trial{policy});
  for (int round = 0; round < rounds; ++round) {
    for (Trial& trial : trials) {
      if (trial.taken > short_seconds) continue;
      RunOptions own = run;
      own.policy = trial.policy;
      // An error in float32 would occur under every policy, so the first round of float32 alone throws.
      own.silent = round > 0 || &trial != &trials.front();
      take_steps(module, batches, own, trial);
    }
  }
  for (Trial& trial : trials) trial.fault = fault_of(trial, trials.front());
  const Trial* best = &trials.front();
  for (const Trial& trial : trials) {
    if (trial.fault.empty() && trial.seconds * worthwhile_gain < best->seconds) best = &trial;
  }
  std::vector<std::string> texts;
  for (const Trial& trial : trials) texts.push_back(text_of(trial));
  write_output(fmt::format("[Trainer] precision \"auto\" is {}: {}\n", best->policy.name(), fmt::join(texts, ", ")));
  return best->policy;
}

std::string slowness(const Policy& policy, const ProductRates& float32, const ProductRates& other) {
  const double matmul = other.matmul / float32.matmul, conv2d = other.conv2d / float32.conv2d;
  constexpr double noise = 0.9;  // smaller losses of speed may be errors of measurement
  if (std::sqrt(matmul * conv2d) >= noise) return {};
  return fmt::format(
      "{} is slower than float32 on this CPU: matrix products run at {:.2f} of float32's speed, convolutions at {:.2f} "
      "(measured); precision \"auto\" measures your model and picks",
      policy.name(), matmul, conv2d);
}

void warn_if_slow(const Policy& policy) {
  const DType dtype = computes_in(policy);
  if (dtype != DType::bfloat16 && dtype != DType::float16) return;
  if (turned_off("MEZZO_WARN_SLOW_POLICY")) return;
  static std::once_flag measured[2];
  std::call_once(measured[dtype == DType::float16 ? 1 : 0], [&] {
    ProductRates float32, other;
    const auto keep_best = [](ProductRates& best, const ProductRates& rates) {
      best.matmul = std::max(best.matmul, rates.matmul);
      best.conv2d = std::max(best.conv2d, rates.conv2d);
    };
    // One thread, and the best of several tries, since another process may slow down a single try.
    constexpr int tries = 5;
    const OneThread alone;
    std::string text;
    for (int i = 0; i < tries; ++i) {
      const std::vector<ProductRates> rates = product_rates({DType::float32, dtype}, 2);
      keep_best(float32, rates[0]);
      keep_best(other, rates[1]);
      text = slowness(policy, float32, other);
      if (text.empty()) return;
    }
    warn(text);
  });
}

}  // namespace mezzo::detail
