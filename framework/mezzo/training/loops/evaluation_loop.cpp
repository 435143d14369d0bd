#include <mezzo/training/loops/evaluation_loop.hpp>

#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/loops/loops.hpp>
#include <mezzo/training/step/group_start.hpp>
#include <mezzo/training/step/metric_scope.hpp>

namespace mezzo::detail {

Evaluated run_evaluation(RunningSession& session, StepRunner& runner, const DataLoaders& loaders, Stage stage,
                         const std::vector<std::int64_t>& steps, BatchBar& bar, const Means::Key& key) {
  Evaluated result;
  Means& means = result.means;
  const ScopedValue<Means*> shown(session.evaluated, &means);
  Logs logs;
  const bool alone = session.stage() != Stage::fit;  // stop() in fit ends the training, not its validation
  const std::int64_t total = sum_of(steps);
  session.fire(Event::test_begin, logs);
  for (std::size_t i = 0; i < loaders.size(); ++i) {
    runner.metrics().begin();
    const LoaderScope scope(session, runner, i);
    const std::string suffix = loaders.size() > 1 ? fmt::format("/dataloader_idx_{}", i) : "";
    BatchStream stream = loaders[i].epoch(0);
    for (std::int64_t done = 0; done < steps[i] && !(alone && runner.group().any(session.stopping())); ++done) {
      const auto batch = next_batch(stream, runner);
      if (!batch) break;
      session.fire(Event::test_batch_begin, logs, done, &*batch);
      runner.run(stage, *batch, done);
      means.add(runner, batch->whole_size(), suffix);
      if (session.has_callbacks()) means.write(logs);
      session.fire(Event::test_batch_end, logs, done, &*batch);
      session.log_evaluation_step(means, i, key);
      ++result.batches;
      if (bar.due(result.batches)) bar.show_evaluation(result.batches, known_batches(total), means.for_bar());
    }
    if (i + 1 < loaders.size()) means.end_loader();
  }
  session.fire(Event::test_end, logs);
  for (const auto& [name, number] : logs) {
    if (!means.has(name)) means.set(name, number);  // of callbacks
  }
  return result;
}

Logs evaluate(Module& module, const DataLoaders& loaders, Stage stage, const EvaluationSettings& settings) try {
  const bool is_test = stage == Stage::test;
  std::vector<std::int64_t> steps;
  const auto count_batches = [&] {
    steps = steps_of(loaders, settings, is_test ? "limit_test_batches" : "limit_val_batches",
                     is_test ? "test" : "validate");
  };
  if (!settings.call.make_loaders) count_batches();  // else CallScope calls it
  const CallScope scope(module, stage, settings.call, count_batches);
  StepRunner runner(module, settings.run, StepRunner::Use::between_steps);
  RunningSession session(scope, runner);
  session.batch_count = known_batches(sum_of(steps));
  BatchBar bar(settings.call.verbose, scope.callbacks(), session.batch_count);
  std::optional<MetricScope> outer_metrics;  // set aside if a hook of another call evaluates
  if (runner.outer() != nullptr) outer_metrics.emplace(runner.state(), runner.outer()->metrics());
  try {
    start_evaluation(runner, stage, loaders, steps);
    bar.begin("Evaluate");
    const auto [means, batches] = run_evaluation(session, runner, loaders, stage, steps, bar);
    Logs logs;
    for (const auto& [name, number] : means.for_history()) logs.set(name, number);
    session.fire(Event::validation_end, logs);
    Numbers shown = means.for_bar();
    if (session.verbose() == 2) add_missing(shown, means.for_history());
    bar.end(batches, shown);
    session.log_metrics(means.for_loggers_by_epoch());
    session.finalize("success");
    return logs;
  } catch (const std::exception& error) {
    Logs no_logs;
    session.fail_with(error, no_logs);
    throw;
  }
} catch (const std::bad_alloc&) {
  fail_without_memory("evaluate");
}

}  // namespace mezzo::detail
