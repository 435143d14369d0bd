#include <mezzo/training/loop.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loss_scaling.hpp>
#include <mezzo/training/progress_bar.hpp>
#include <mezzo/training/slow_policy.hpp>

namespace mezzo::detail {
namespace {

/// Means over the samples of the numbers that steps log, in double, without skipped steps.
class Means {
 public:
  void add(const StepRunner& runner, std::int64_t samples) {
    const std::vector<Logged>& logged = runner.logged();
    for (std::size_t i = 0; i < logged.size(); ++i) {
      Entry& entry = entry_of(logged[i], i);
      if (runner.skipped()) continue;
      entry.total += runner.value(i) * static_cast<double>(samples);
      entry.samples += static_cast<double>(samples);
    }
  }

  /// Means of all names, or of those for the progress bar. NaN if every step was skipped.
  ProgressBar::Numbers numbers(bool prog_bar_only) const {
    ProgressBar::Numbers out;
    for (const Entry& entry : entries_) {
      const double mean = entry.samples > 0 ? entry.total / entry.samples : std::numeric_limits<double>::quiet_NaN();
      if (entry.prog_bar || !prog_bar_only) out.emplace_back(entry.name, mean);
    }
    return out;
  }

  bool has(const std::string& name) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  }

 private:
  struct Entry {
    std::string name;
    bool prog_bar = false;
    double total = 0;
    double samples = 0;
  };

  /// Entry of a name. Steps usually log the same names in the same order, so index `likely` is tried first.
  Entry& entry_of(const Logged& logged, std::size_t likely) {
    if (likely < entries_.size() && entries_[likely].name == logged.name) return entries_[likely];
    for (Entry& entry : entries_) {
      if (entry.name == logged.name) return entry;
    }
    return entries_.emplace_back(Entry{logged.name, logged.prog_bar});
  }

  std::vector<Entry> entries_;
};

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
  Means means;
  BatchStream stream = loader.epoch(0);
  while (const auto batch = stream.next()) {
    runner.run(phase, *batch);
    means.add(runner, batch->size);
  }
  return means;
}

/// Concatenates tensors along axis 0.
Tensor concatenate(const std::vector<Tensor>& parts) {
  Shape shape = parts.front().shape();
  if (shape.empty()) fail<ShapeError>("[Trainer]", "predict: outputs must have a batch axis; got shape {}", shape);
  shape[0] = 0;
  for (const Tensor& part : parts) {
    if (!std::equal(shape.begin() + 1, shape.end(), part.shape().begin() + 1, part.shape().end())) {
      fail<ShapeError>("[Trainer]", "predict: outputs may differ on axis 0 only; got shapes {} and {}",
                       parts.front().shape(), part.shape());
    }
    shape[0] += part.shape()[0];
  }
  Tensor all = Tensor::uninitialized(shape, parts.front().dtype());
  auto* out = static_cast<unsigned char*>(all.mutable_raw());
  for (const Tensor& part : parts) {
    std::memcpy(out, part.raw(), part.bytes());
    out += part.bytes();
  }
  return all;
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
      const Means validated = evaluate_with(runner, validation, Phase::validate);
      const auto key = [&](const std::string& name) {
        return (module.prefixes_validation() || means.has(name) ? "val_" : "") + name;
      };
      for (const auto& entry : validated.numbers(false)) history.history[key(entry.first)].push_back(entry.second);
      for (const auto& entry : validated.numbers(true)) shown.emplace_back(key(entry.first), entry.second);
    }
    bar.end(done, shown);
  }
  if (!options.anew) {  // as Keras' fit; a Trainer leaves the weights, so that the training can be resumed
    for (const OptimizerConfig& config : state.optimizers) config.optimizer->finalize_variable_values();
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

Tensor predict(Module& module, const DataLoader& loader, const RunOptions& run) try {
  require(loader, "predict");
  StepRunner runner(module, run);
  std::vector<Tensor> parts;
  BatchStream stream = loader.epoch(0);
  while (const auto batch = stream.next()) {
    runner.run(Phase::predict, *batch);
    parts.push_back(runner.output());
  }
  return concatenate(parts);
} catch (const std::bad_alloc&) {
  fail_without_memory("predict");
}

}  // namespace mezzo::detail
