#include <mezzo/training/detail/loop.hpp>

#include <cstring>

#include <mezzo/training/detail/progress_bar.hpp>

namespace mezzo::detail {
namespace {

/// Means over the samples, in double.
class Means {
 public:
  void add(const StepRunner& runner, std::int64_t samples) {
    const std::vector<Logged>& logged = runner.logged();
    for (std::size_t i = 0; i < logged.size(); ++i) {
      if (i == entries_.size()) entries_.push_back({&logged[i].name, logged[i].prog_bar, 0});
      entries_[i].total += runner.value(i) * static_cast<double>(samples);
    }
    samples_ += static_cast<double>(samples);
  }

  /// Of every name, or of those for the progress bar.
  ProgressBar::Numbers numbers(bool prog_bar_only) const {
    ProgressBar::Numbers out;
    for (const Entry& entry : entries_) {
      if (entry.prog_bar || !prog_bar_only) out.emplace_back(*entry.name, samples_ > 0 ? entry.total / samples_ : 0);
    }
    return out;
  }

 private:
  struct Entry {
    const std::string* name;
    bool prog_bar;
    double total;
  };
  std::vector<Entry> entries_;
  double samples_ = 0;
};

void require(const DataLoader& loader, const std::string& verb) {
  if (loader.empty()) throw ValueError("[Trainer] " + verb + ": the loader has no batches");
}

Logs evaluate_with(StepRunner& runner, const DataLoader& loader, Phase phase) {
  Means means;
  BatchStream stream = loader.epoch(0);
  while (const auto batch = stream.next()) {
    runner.run(phase, *batch);
    means.add(runner, batch->size);
  }
  const auto numbers = means.numbers(false);
  return {numbers.begin(), numbers.end()};
}

}  // namespace

History fit(Module& module, const DataLoader& train, const DataLoader& validation, const RunOptions& run,
            const LoopOptions& options) {
  require(train, "fit");
  History history;
  StepRunner runner(module, run);
  if (BatchStream first = train.epoch(0); const auto batch = first.next()) runner.configure(*batch, options.anew);
  TrainingState& state = training_state(module);
  ProgressBar bar(options.progress_bar, train.size(), options.epochs);
  const std::string prefix = module.prefixes_validation() ? "val_" : "";
  std::int64_t steps = 0;
  const auto more = [&] { return options.max_steps < 0 || steps < options.max_steps; };
  for (int epoch = 0; (options.epochs < 0 || epoch < options.epochs) && more(); ++epoch) {
    bar.begin(epoch);
    Means means;
    std::int64_t done = 0;
    BatchStream stream = train.epoch(state.epoch);
    while (more()) {
      const auto batch = stream.next();
      if (!batch) break;
      runner.run(Phase::train, *batch);
      if (!runner.skipped()) means.add(runner, batch->size);
      ++done;
      ++steps;
      if (bar.due()) bar.show(done, means.numbers(true));
    }
    ++state.epoch;
    history.epoch.push_back(epoch);
    auto shown = means.numbers(true);
    for (const auto& entry : means.numbers(false)) history.history[entry.first].push_back(entry.second);
    if (!validation.empty()) {
      for (const auto& entry : evaluate_with(runner, validation, Phase::validate)) {
        history.history[prefix + entry.first].push_back(entry.second);
        shown.emplace_back(prefix + entry.first, entry.second);
      }
    }
    bar.end(done, shown);
  }
  return history;
}

Logs evaluate(Module& module, const DataLoader& loader, Phase phase, const RunOptions& run) {
  require(loader, phase == Phase::test ? "test" : "validate");
  StepRunner runner(module, run);
  return evaluate_with(runner, loader, phase);
}

Tensor predict(Module& module, const DataLoader& loader, const RunOptions& run) {
  require(loader, "predict");
  StepRunner runner(module, run);
  std::vector<Tensor> parts;
  Shape shape;
  BatchStream stream = loader.epoch(0);
  while (const auto batch = stream.next()) {
    runner.run(Phase::predict, *batch);
    parts.push_back(runner.output());
    if (parts.size() == 1) {
      shape = parts.front().shape();
      if (shape.empty()) throw ShapeError("[Trainer] predict: outputs must have a batch axis; got shape ()");
      shape[0] = 0;
    }
    shape[0] += parts.back().shape()[0];
  }
  Tensor all = Tensor::uninitialized(shape, parts.front().dtype());
  auto* out = static_cast<unsigned char*>(all.mutable_raw());
  for (const Tensor& part : parts) {
    std::memcpy(out, part.raw(), part.bytes());
    out += part.bytes();
  }
  return all;
}

}  // namespace mezzo::detail
