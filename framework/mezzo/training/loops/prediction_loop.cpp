#include <cstring>
#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/loops/evaluation_loop.hpp>
#include <mezzo/training/loops/loops.hpp>
#include <mezzo/training/module/traced_step.hpp>
#include <mezzo/training/step/group_start.hpp>

namespace mezzo::detail {
namespace {

/// Concatenates tensors along axis 0.
Tensor concatenate(const std::vector<Tensor>& parts) {
  Shape shape = parts.front().shape();
  if (shape.empty()) fail<ShapeError>("[Trainer]", "predict: outputs must have a batch axis; got shape {}", shape);
  shape[0] = 0;
  for (const Tensor& part : parts) {
    if (part.shape().size() != shape.size() ||
        !std::equal(shape.begin() + 1, shape.end(), part.shape().begin() + 1, part.shape().end())) {
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

std::string label_of(const Module& module) {
  const ScopeInfo& info = *module.state();
  return info.name.empty() ? fmt::format("[{}]", info.kind) : fmt::format("[{} \"{}\"]", info.kind, info.name);
}

/// Outputs of the batches, for each output of the module, of one loader. `taken`: batches so far, of all.
std::vector<std::vector<Tensor>> run_prediction(RunningSession& session, StepRunner& runner, const DataLoader& loader,
                                                std::int64_t steps, BatchBar& bar, std::int64_t& taken, bool one,
                                                bool keeps) {
  std::vector<std::vector<Tensor>> parts;
  Logs logs;
  BatchStream stream = loader.epoch(0);
  for (std::int64_t done = 0; done < steps && !runner.group().any(session.stopping()); ++done) {
    const auto batch = next_batch(stream, runner);
    if (!batch) break;
    session.fire(Event::predict_batch_begin, logs, done, &*batch);
    runner.run(Stage::predict, *batch, done);
    std::vector<Tensor> outputs;
    for (const std::vector<Tensor>& of_batch : runner.output_parts()) {
      outputs.push_back(of_batch.size() == 1 ? of_batch.front() : concatenate(of_batch));
    }
    if (one) require_one_output(outputs.size(), label_of(runner.module()), "predict");
    if (keeps) parts.resize(outputs.size());
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].push_back(outputs[i]);
    {
      const ScopedValue<const std::vector<Tensor>*> shown(session.batch_outputs, &outputs);
      session.fire(Event::predict_batch_end, logs, done, &*batch);
    }
    ++taken;
    if (bar.due(taken)) bar.show(taken, {});
  }
  return parts;
}

/// Outputs of the module for each loader.
std::vector<std::vector<Tensor>> predict_outputs(Module& module, const DataLoaders& loaders,
                                                 const EvaluationSettings& settings, bool one) try {
  std::vector<std::int64_t> steps;
  const auto count_batches = [&] { steps = steps_of(loaders, settings, "limit_predict_batches", "predict"); };
  if (!settings.call.make_loaders) count_batches();  // else CallScope calls it
  const CallScope scope(module, Stage::predict, settings.call, count_batches);
  StepRunner runner(module, settings.run, StepRunner::Use::between_steps);
  RunningSession session(scope, runner);
  session.batch_count = known_batches(sum_of(steps));
  BatchBar bar(settings.call.verbose, scope.callbacks(), session.batch_count);
  try {
    start_evaluation(runner, Stage::predict, loaders, steps);
    bar.begin("Predict");
    std::vector<std::vector<std::vector<Tensor>>> parts;
    std::int64_t taken = 0;
    bool stopped = false;
    Logs logs;
    session.fire(Event::predict_begin, logs);
    for (std::size_t i = 0; i < loaders.size(); ++i) {
      const LoaderScope turn(session, runner, i);
      const std::int64_t before = taken;
      parts.push_back(
          run_prediction(session, runner, loaders[i], steps[i], bar, taken, one, settings.return_predictions));
      stopped |= taken == before;
    }
    session.fire(Event::predict_end, logs);
    if (stopped) fail<ValueError>("[Trainer]", "predict: must take a batch; got a stop before the first one");
    bar.end(taken, {});
    session.finalize("success");
    std::vector<std::vector<Tensor>> all;
    for (const auto& outputs : parts) {
      std::vector<Tensor>& whole = all.emplace_back();
      for (const auto& output : outputs) whole.push_back(concatenate(output));
    }
    return all;
  } catch (const std::exception& error) {
    Logs no_logs;
    session.fail_with(error, no_logs);
    throw;
  }
} catch (const std::bad_alloc&) {
  fail_without_memory("predict");
}

}  // namespace

std::vector<Tensor> predict_all(Module& module, const DataLoader& loader, const EvaluationSettings& settings) {
  return predict_outputs(module, loader, settings, false).front();
}

std::vector<Tensor> predict(Module& module, const DataLoaders& loaders, const EvaluationSettings& settings) {
  std::vector<Tensor> out;
  for (const auto& outputs : predict_outputs(module, loaders, settings, true)) {
    if (settings.return_predictions) out.push_back(outputs.front());
  }
  return out;
}

}  // namespace mezzo::detail
