#include <mezzo/training/loops/evaluation_loop.hpp>

#include <algorithm>
#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/loops/loops.hpp>

namespace mezzo::detail {

void require_batches(const DataLoader& loader, const std::string& verb) {
  if (loader.empty()) fail<ValueError>("[Trainer]", "{}: the loader must have batches; got an absent loader", verb);
}

void fail_without_memory(const char* verb) {
  fail<MemoryError>("[Trainer]", "{}: the system has not enough memory", verb);
}

std::int64_t limited_steps(const DataLoader& loader, const std::optional<std::int64_t>& steps, const char* option) {
  if (!steps) return loader.size();
  if (*steps < 1) fail<ValueError>("[Trainer]", "{} must be at least 1; got {}", option, *steps);
  if (*steps > loader.size()) {
    warn(fmt::format("[Trainer] {} is {}, but the data has {} batches: all of them are taken", option, *steps,
                     loader.size()));
  }
  return std::min(*steps, loader.size());
}

std::int64_t steps_of(const DataLoader& loader, const EvaluationOptions& options, const char* limit) {
  if (!options.limit) return limited_steps(loader, options.steps, "steps");
  const std::int64_t steps = options.limit->of(loader.size(), limit);
  if (steps == 0) fail<ValueError>("[Trainer]", "{} must not be 0 in a call that needs batches; got 0", limit);
  return steps;
}

Means run_evaluation(RunningSession& session, StepRunner& runner, const DataLoader& loader, Phase phase,
                     std::int64_t steps, ProgressBar& bar) {
  runner.metrics().begin();
  Means means;
  Logs logs;
  const bool alone = session.verb() != Session::Verb::fit;  // stop() in fit ends the training, not its validation
  session.fire(Event::test_begin, logs);
  BatchStream stream = loader.epoch(0);
  for (std::int64_t done = 0; done < steps && !(alone && session.stopping()); ++done) {
    const auto batch = stream.next();
    if (!batch) break;
    session.fire(Event::test_batch_begin, logs, done, &*batch);
    runner.run(phase, *batch);
    means.add(runner, batch->size);
    if (session.has_callbacks()) means.write(logs);
    session.fire(Event::test_batch_end, logs, done, &*batch);
    if (bar.due()) bar.show_evaluation(done + 1, steps, means.for_bar());
  }
  session.fire(Event::test_end, logs);
  return means;
}

Logs evaluate(Module& module, const DataLoader& loader, Phase phase, const RunOptions& run,
              const EvaluationOptions& options) try {
  const bool tests = phase == Phase::test;
  require_batches(loader, tests ? "test" : "validate");
  const std::int64_t steps = steps_of(loader, options, tests ? "limit_test_batches" : "limit_val_batches");
  const CallScope scope(module, tests ? Stage::test : Stage::validate, options.call);
  StepRunner runner(module, run, StepRunner::Use::between_steps);
  RunningSession session(scope, runner);
  session.limits.steps = steps;
  ProgressBar bar(options.call.verbose, steps);
  std::optional<MetricScope> running;  // the metrics of the call whose hook evaluates
  if (runner.outer() != nullptr) running.emplace(*runner.outer());
  try {
    bar.begin("Evaluate");
    const Means means = run_evaluation(session, runner, loader, phase, steps, bar);
    Logs logs;
    for (const auto& [name, number] : means.for_history()) logs.set(name, number);
    session.fire(Event::validation_end, logs);
    bar.end(session.current_batch() + 1, means.for_bar());
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
