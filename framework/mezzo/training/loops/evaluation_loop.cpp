#include <mezzo/training/loops/evaluation_loop.hpp>

#include <algorithm>
#include <new>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/loops/loops.hpp>

namespace mezzo::detail {

void require_batches(const DataLoader& loader, const std::string& verb) {
  if (loader.empty()) fail<ValueError>("[Trainer]", "{}: the loader must have batches; got an absent loader", verb);
}

void fail_without_memory(const char* verb) {
  fail<MemoryError>("[Trainer]", "{}: the system has not enough memory", verb);
}

std::int64_t batches_of(const DataLoader& loader, const BatchLimit& limit, const char* option) {
  return loader.sized() ? limit.of(loader.size(), option) : limit.of_unsized(option);
}

std::int64_t limited_steps(const DataLoader& loader, const std::optional<std::int64_t>& steps, const char* option) {
  if (!steps) return loader.sized() ? loader.size() : all_batches;
  if (*steps < 1) fail<ValueError>("[Trainer]", "{} must be at least 1; got {}", option, *steps);
  if (!loader.sized()) return *steps;
  if (*steps > loader.size()) {
    warn(fmt::format("[Trainer] {} is {}, but the data has {} batches: all of them are taken", option, *steps,
                     loader.size()));
  }
  return std::min(*steps, loader.size());
}

std::int64_t steps_of(const DataLoader& loader, const EvaluationOptions& options, const char* limit) {
  if (!options.limit) return limited_steps(loader, options.steps, "steps");
  const std::int64_t steps = batches_of(loader, *options.limit, limit);
  if (steps == 0) fail<ValueError>("[Trainer]", "{} must not be 0 in a call that needs batches; got 0", limit);
  return steps;
}

std::vector<std::int64_t> steps_of(const DataLoaders& loaders, const EvaluationOptions& options, const char* limit,
                                   const std::string& verb) {
  if (loaders.empty()) require_batches({}, verb);
  std::vector<std::int64_t> out;
  for (const DataLoader& loader : loaders) out.push_back(steps_of(loader, options, limit));
  return out;
}

std::int64_t sum_of(const std::vector<std::int64_t>& steps) {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

Means run_evaluation(RunningSession& session, StepRunner& runner, const DataLoaders& loaders, Phase phase,
                     const std::vector<std::int64_t>& steps, BatchBar& bar) {
  Means means;
  const ScopedValue<const Means*> shown(session.evaluated, &means);
  Logs logs;
  const bool alone = session.verb() != Session::Verb::fit;  // stop() in fit ends the training, not its validation
  const std::int64_t total = sum_of(steps);
  std::int64_t taken = 0;
  session.fire(Event::test_begin, logs);
  for (std::size_t i = 0; i < loaders.size(); ++i) {
    runner.metrics().begin();
    const LoaderScope scope(session, runner, i);
    const std::string suffix = loaders.size() > 1 ? fmt::format("/dataloader_idx_{}", i) : "";
    BatchStream stream = loaders[i].epoch(0);
    for (std::int64_t done = 0; done < steps[i] && !(alone && session.stopping()); ++done) {
      const auto batch = stream.next();
      if (!batch) break;
      session.fire(Event::test_batch_begin, logs, done, &*batch);
      runner.run(phase, *batch);
      means.add(runner, batch->size, suffix);
      if (session.has_callbacks()) means.write(logs);
      session.fire(Event::test_batch_end, logs, done, &*batch);
      ++taken;
      if (bar.due(taken)) bar.show_evaluation(taken, known_batches(total), means.for_bar());
    }
    if (i + 1 < loaders.size()) means.end_loader();
  }
  session.fire(Event::test_end, logs);
  return means;
}

Logs evaluate(Module& module, const DataLoaders& loaders, Phase phase, const RunOptions& run,
              const EvaluationOptions& options) try {
  const bool tests = phase == Phase::test;
  std::vector<std::int64_t> steps;
  const auto measure = [&] {
    steps = steps_of(loaders, options, tests ? "limit_test_batches" : "limit_val_batches", tests ? "test" : "validate");
  };
  if (!options.call.load) measure();
  const CallScope scope(module, tests ? Stage::test : Stage::validate, options.call);
  if (options.call.load) {
    options.call.load();
    measure();
  }
  StepRunner runner(module, run, StepRunner::Use::between_steps);
  RunningSession session(scope, runner);
  session.limits.steps = known_batches(sum_of(steps));
  BatchBar bar(options.call.verbose, scope.callbacks(), session.limits.steps);
  std::optional<MetricScope> running;  // the metrics of the call whose hook evaluates
  if (runner.outer() != nullptr) running.emplace(*runner.outer());
  try {
    bar.begin("Evaluate");
    const Means means = run_evaluation(session, runner, loaders, phase, steps, bar);
    Logs logs;
    for (const auto& [name, number] : means.for_history()) logs.set(name, number);
    session.fire(Event::validation_end, logs);
    bar.end(loaders.size() > 1 ? session.limits.steps : session.current_batch() + 1, means.for_bar());
    session.log_metrics(means.for_loggers_by_epoch());
    session.finalize("success");
    return logs;
  } catch (const std::exception& error) {
    Logs none;
    session.fail_with(error, none);
    throw;
  }
} catch (const std::bad_alloc&) {
  fail_without_memory("evaluate");
}

}  // namespace mezzo::detail
