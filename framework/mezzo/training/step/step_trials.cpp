#include <mezzo/training/step/step_trials.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <optional>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/step/metric_scope.hpp>
#include <mezzo/training/step/step_probe.hpp>

namespace mezzo::detail {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double loss_of(const StepRunner& runner) {
  const std::vector<Logged>& logged = runner.logged();
  for (std::size_t i = 0; i < logged.size(); ++i) {
    if (logged[i].name == "loss" && !runner.skipped()) return runner.value(i);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Restores the module's weights and their dtypes on destruction.
class KeptWeights {
 public:
  explicit KeptWeights(const Module& module) {
    for (const Variable& weight : module.weights()) kept_.emplace_back(weight, weight.value().copy());
  }
  ~KeptWeights() {
    for (const auto& [weight, numbers] : kept_) {
      weight.state()->join();
      weight.state()->convert(numbers.dtype());
      weight.assign(numbers);
    }
  }
  KeptWeights(const KeptWeights&) = delete;
  KeptWeights& operator=(const KeptWeights&) = delete;

 private:
  std::vector<std::pair<Variable, Tensor>> kept_;
};

/// Restores the numbers of the module's weights on destruction.
class AssignedWeights {
 public:
  explicit AssignedWeights(const Module& module) {
    for (const Variable& weight : module.weights()) kept_.emplace_back(weight, weight.value());
  }
  ~AssignedWeights() {
    for (const auto& [weight, numbers] : kept_) weight.assign(numbers);
  }
  AssignedWeights(const AssignedWeights&) = delete;
  AssignedWeights& operator=(const AssignedWeights&) = delete;

 private:
  std::vector<std::pair<Variable, Tensor>> kept_;
};

/// Turns the accumulation of gradients off for its lifetime.
class UpdateEachStep {
 public:
  explicit UpdateEachStep(StepRunner& runner) : runner_(runner), before_(runner.accumulation()) {
    if (before_ > 1) runner_.set_accumulation(1);
  }
  ~UpdateEachStep() {
    if (before_ > 1) runner_.set_accumulation(before_);
  }
  UpdateEachStep(const UpdateEachStep&) = delete;
  UpdateEachStep& operator=(const UpdateEachStep&) = delete;

 private:
  StepRunner& runner_;
  int before_;
};

/// A trial and the times of its plan's kernels.
struct ProfiledTrial : Trial {
  std::vector<std::vector<double>> laps;  ///< seconds by kernel and round
  std::vector<std::string> paths;         ///< layer of each kernel

  void add(const Plan& plan) {
    constexpr double nanosecond = 1e-9;
    paths.clear();
    for (const Plan::Row& row : plan.rows()) paths.push_back(row.path);
    laps.resize(paths.size());
    for (std::size_t i = 0; i < laps.size(); ++i) laps[i].push_back(plan.profile().lap_time(i) * nanosecond);
  }

  StepTimes times() const {
    StepTimes out{.seconds = agreed_time().value_or(0), .layers = {}};
    std::map<std::string, std::vector<double>> layers;  // seconds by round
    for (std::size_t i = 0; i < laps.size(); ++i) {
      std::vector<double>& rounds = layers[paths[i]];
      rounds.resize(laps[i].size());
      std::transform(rounds.begin(), rounds.end(), laps[i].begin(), rounds.begin(), std::plus<>());
    }
    for (const auto& [path, rounds] : layers) out.layers[path] = agreed_median(rounds).value_or(0);
    return out;
  }
};

}  // namespace

std::shared_ptr<const Plan> take_steps(Module& module, const std::vector<HostBatch>& batches, const RunOptions& run,
                                       const Round& round, Trial& trial) {
  StepRunner runner(module, run);
  runner.rehearse(Stage::fit, batches.front());
  runner.configure(true);
  const KeptWeights kept(module);
  const bool first = trial.losses.empty();
  Clock::time_point begin;
  for (int step = 0;; ++step) {
    if (step == warm_up_steps) begin = Clock::now();
    const auto start = Clock::now();
    runner.run(Stage::fit, batches[static_cast<std::size_t>(step) % batches.size()]);
    const double seconds = seconds_since(start);
    if (first && step < warm_up_steps + round.steps) trial.losses.push_back(loss_of(runner));
    if (step < warm_up_steps) continue;
    if (round.counts_skipped || !runner.skipped()) trial.seconds.push_back(seconds);
    trial.taken = seconds_since(begin);
    const bool enough = step + 1 >= warm_up_steps + round.steps && trial.taken >= round.least_seconds;
    if (enough || trial.taken > round.most_seconds) break;
  }
  return training_state(module).last_plan;
}

std::vector<HostBatch> sample(const DataLoader& loader, int count) {
  std::vector<HostBatch> batches;
  BatchStream stream = loader.epoch(0);
  while (static_cast<int>(batches.size()) < count) {
    auto batch = stream.next();
    if (!batch) break;
    if (batches.empty() || batch->size == batches.front().size) batches.push_back(std::move(*batch));
  }
  return batches;
}

KeptTraining::KeptTraining(Module& module)
    : optimizing_(training_state(module)),
      progress_(training_state(module)),
      plans_(training_state(module).plans),
      kept_optimizing_(optimizing_),
      kept_progress_(progress_) {
  for (const OptimizerConfig& config : optimizing_.optimizers) numbers_.push_back(*config.optimizer->state());
}

KeptTraining::~KeptTraining() {
  for (const OptimizerConfig& config : optimizing_.optimizers) *config.optimizer->state() = Optimizer::State();
  for (std::size_t i = 0; i < numbers_.size(); ++i) *kept_optimizing_.optimizers[i].optimizer->state() = numbers_[i];
  optimizing_ = kept_optimizing_;
  progress_ = kept_progress_;
  plans_.clear();
}

void try_steps(StepRunner& runner, const DataLoader& train, std::int64_t steps,
               const std::function<void(std::int64_t)>& before,
               const std::function<bool(std::int64_t, double)>& after) {
  Module& module = runner.module();
  const KeptTraining training(module);
  const ScopedValue resumed(runner.state().resumed_metrics, {});
  const AssignedWeights weights(module);
  const MetricScope metrics(runner.state(), runner.metrics());
  const UpdateEachStep updates(runner);
  runner.configure(true);
  std::int64_t pass = 0;
  BatchStream stream = train.epoch(pass);
  for (std::int64_t step = 0; steps < 0 || step < steps; ++step) {
    auto batch = stream.next();
    if (!batch && steps < 0) break;
    if (!batch) {
      stream = train.epoch(++pass);
      batch = stream.next();
    }
    before(step);
    bool finite = true;
    try {
      runner.run(Stage::fit, *batch, step);
    } catch (const NonFiniteError&) {
      finite = false;
    }
    const double loss = finite ? loss_of(runner) : std::numeric_limits<double>::quiet_NaN();
    if (!after(step, loss) || !finite) break;
  }
}

bool try_batch_size(StepRunner& runner, const DataLoader& train, std::int64_t batch_size, std::int64_t steps,
                    std::int64_t memory_limit) {
  const DataLoader resized = train.with_batch_size(batch_size);
  const ScopedValue limit(runner.memory_limit, static_cast<std::size_t>(memory_limit));
  try {
    try_steps(
        runner, resized, steps, [](std::int64_t) {}, [](std::int64_t, double) { return true; });
  } catch (const MemoryError&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

NoLayerPolicies::~NoLayerPolicies() {
  for (const auto& [state, policy] : policies_) state->policy = policy;
}

void NoLayerPolicies::clear(const Shared<LayerState>& state) {
  policies_.emplace_back(state, std::exchange(state->policy, Policy()));
  for (const auto& child : state->children) clear(child.second);
}

}  // namespace mezzo::detail

namespace mezzo {

std::vector<StepTimes> time_steps(Module& module, const HostBatch& batch, const std::vector<StepToTime>& all, int steps,
                                  const std::function<void()>& reset) {
  std::vector<detail::ProfiledTrial> trials(all.size());
  const int rounds = std::min(steps, detail::timing_rounds);
  const auto entry_of = [&](const detail::ProfiledTrial& trial) {
    return all[static_cast<std::size_t>(&trial - trials.data())];
  };
  detail::in_turns(
      trials, rounds, std::numeric_limits<double>::infinity(), [&](detail::ProfiledTrial& trial, int round) {
        const StepToTime step = entry_of(trial);
        reset();
        const auto inherited = step.layers_inherit ? std::make_optional<detail::NoLayerPolicies>(module) : std::nullopt;
        const int share = (steps * (round + 1)) / rounds - (steps * round) / rounds;
        trial.add(*detail::take_steps(module, {batch}, {.policy = step.policy, .silent = true},
                                      {.steps = share, .counts_skipped = true}, trial));
      });
  std::vector<StepTimes> out;
  for (const auto& trial : trials) out.push_back(trial.times());
  return out;
}

}  // namespace mezzo
