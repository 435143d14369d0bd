#include <mezzo/training/batch_calls.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/means.hpp>

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

std::vector<Tensor> predict_outputs(Module& module, const DataLoader& loader, const RunOptions& run, bool one) try {
  if (loader.empty()) fail<ValueError>("[Trainer]", "predict: the loader must have batches; got an absent loader");
  StepRunner runner(module, run);
  std::vector<std::vector<Tensor>> parts;
  BatchStream stream = loader.epoch(0);
  while (const auto batch = stream.next()) {
    runner.run(Phase::predict, *batch);
    std::vector<Tensor> outputs = runner.outputs();
    if (one) require_one_output(outputs.size(), label_of(module), "predict");
    parts.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) parts[i].push_back(std::move(outputs[i]));
  }
  std::vector<Tensor> all;
  for (const auto& output : parts) all.push_back(concatenate(output));
  return all;
} catch (const std::bad_alloc&) {
  fail<MemoryError>("[Trainer]", "predict: the system has not enough memory");
}

}  // namespace

std::vector<Tensor> predict_all(Module& module, const DataLoader& loader, const RunOptions& run) {
  return predict_outputs(module, loader, run, false);
}

Tensor predict(Module& module, const DataLoader& loader, const RunOptions& run) {
  return predict_outputs(module, loader, run, true).front();
}

Logs run_batch(Module& module, Phase phase, const HostBatch& batch, const RunOptions& run) try {
  StepRunner runner(module, run);
  if (phase == Phase::train) {
    if (!training_state(module).configured) runner.rehearse(phase, batch);
    runner.configure(false);
  }
  runner.run(phase, batch);
  Means means;
  means.add(runner, batch.size);
  return Logs(means.numbers(false));
} catch (const std::bad_alloc&) {
  fail<MemoryError>("[Trainer]", "the system has not enough memory for the batch");
}

}  // namespace mezzo::detail
