#include <mezzo/training/loop.hpp>

#include <algorithm>
#include <limits>
#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loss_scaling.hpp>
#include <mezzo/training/means.hpp>
#include <mezzo/training/progress_bar.hpp>
#include <mezzo/training/slow_policy.hpp>

namespace mezzo::detail {
namespace {

void require(const DataLoader& loader, const std::string& verb) {
  if (loader.empty()) fail<ValueError>("[Trainer]", "{}: the loader must have batches; got an absent loader", verb);
}

/// For the small allocations of the standard library. Arrays and arenas throw a MemoryError with their size.
[[noreturn]] void fail_without_memory(const char* verb) {
  fail<MemoryError>("[Trainer]", "{}: the system has not enough memory", verb);
}

/// Number of steps that the loop is to run; not less than the limits allow.
std::int64_t planned_steps(const DataLoader& train, const LoopOptions& options) {
  constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();
  const std::int64_t by_epochs = options.epochs < 0 ? unlimited : options.epochs * train.size();
  return options.max_steps < 0 ? by_epochs : std::min(by_epochs, options.max_steps);
}

HostBatch first_batch(const DataLoader& loader) { return *loader.epoch(0).next(); }

Means evaluate_with(StepRunner& runner, const DataLoader& loader, Phase phase) {
  runner.metrics().begin();
  Means means;
  BatchStream stream = loader.epoch(0);
  while (const auto batch = stream.next()) {
    runner.run(phase, *batch);
    means.add(runner, batch->size);
  }
  return means;
}

}  // namespace

History fit(Module& module, const DataLoader& train, const DataLoader& validation, const RunOptions& run,
            const LoopOptions& options) try {
  require(train, "fit");
  warn_if_slow(module, train, run, planned_steps(train, options));
  StepRunner runner(module, run);
  TrainingState& state = training_state(module);
  if (options.anew || !state.configured) tell_of_emulation(state, runner.rehearse(Phase::train, first_batch(train)));
  if (!validation.empty()) runner.rehearse(Phase::validate, first_batch(validation));
  if (options.checkpoint != nullptr) {
    options.checkpoint->resume(runner, first_batch(train), train.size());
  } else {
    runner.configure(options.anew);
    if (state.batch > 0) ++state.epoch;  // an interrupted epoch isn't continued
    state.batch = 0;
  }

  History history;
  ProgressBar bar(options.progress_bar, train.size(), options.epochs);
  std::int64_t steps = options.anew ? state.step : 0;
  const auto more = [&] { return options.max_steps < 0 || steps < options.max_steps; };
  for (int epoch = options.anew ? static_cast<int>(state.epoch) : 0;
       (options.epochs < 0 || epoch < options.epochs) && more(); ++epoch) {
    bar.begin(epoch);
    runner.metrics().begin();
    Means means;
    const ScalingLog scaling(runner);
    const auto numbers = [&](bool prog_bar_only) {
      auto out = means.numbers(prog_bar_only);
      for (const auto& entry : scaling.numbers()) {
        if (!means.has(entry.first)) out.push_back(entry);  // names that the module logs take precedence
      }
      return out;
    };
    BatchStream stream = train.epoch(state.epoch, state.batch);
    while (more()) {
      const auto batch = stream.next();
      if (!batch) break;
      runner.run(Phase::train, *batch);
      means.add(runner, batch->size);
      ++state.batch;
      ++steps;
      if (bar.due()) bar.show(state.batch, numbers(true));
    }
    const std::int64_t done = state.batch;
    if (done == train.size()) {
      ++state.epoch;
      state.batch = 0;
    }
    history.epoch.push_back(epoch);
    auto shown = numbers(true);
    for (const auto& entry : numbers(false)) history.history[entry.first].push_back(entry.second);
    if (!validation.empty()) {
      const MetricScope epoch_metrics(runner);
      const Means validated = evaluate_with(runner, validation, Phase::validate);
      const auto key = [&](const std::string& name) {
        return (module.prefixes_validation() || means.has(name) ? "val_" : "") + name;
      };
      for (const auto& entry : validated.numbers(false)) history.history[key(entry.first)].push_back(entry.second);
      for (const auto& entry : validated.numbers(true)) shown.emplace_back(key(entry.first), entry.second);
    }
    bar.end(done, shown);
  }
  return history;
} catch (const std::bad_alloc&) {
  fail_without_memory("fit");
}

Logs evaluate(Module& module, const DataLoader& loader, Phase phase, const RunOptions& run) try {
  require(loader, phase == Phase::test ? "test" : "validate");
  StepRunner runner(module, run);
  const auto numbers = evaluate_with(runner, loader, phase).numbers(false);
  return {numbers.begin(), numbers.end()};
} catch (const std::bad_alloc&) {
  fail_without_memory("evaluate");
}

}  // namespace mezzo::detail
