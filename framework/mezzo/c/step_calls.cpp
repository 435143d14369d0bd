// Predictions and steps of models.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <mezzo/c/arrays.hpp>
#include <mezzo/c/model_handle.hpp>
#include <mezzo/c/versioned.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t least_step = offsetof(mezzo_step, sample_weight_count) + sizeof(std::size_t);
constexpr std::size_t least_numbers = offsetof(mezzo_numbers, count) + sizeof(std::size_t);

/// The snapshot of the model's weights; none if the model can only predict itself.
std::optional<Predictor> snapshot_of(mezzo_model& model) {
  const std::lock_guard<std::mutex> lock(model.mutex);
  Predictions& predictions = model.predictions;
  if (!predictions.snapshot && !predictions.at_model) {
    try {
      predictions.snapshot = model.model->predictor({.workers = predictions.workers});
    } catch (const ValueError&) {  // not built, or one that changes variables when it predicts
      predictions.at_model = true;
    }
  }
  return predictions.snapshot;
}

std::vector<Tensor> outputs_of(mezzo_model& model, const Tensors& x) {
  std::int64_t samples = 0;
  if (!x.empty() && !x[0].shape().empty()) samples = x[0].shape()[0];
  std::vector<Tensor> out;
  const auto collect = [&out](const Tensors& results) {
    for (const auto& entry : results) out.push_back(entry.second);
  };
  if (samples > 0) {
    if (const std::optional<Predictor> snapshot = snapshot_of(model)) {
      collect(snapshot->predict_all(x));
      return out;
    }
  }
  const std::lock_guard<std::mutex> lock(model.mutex);
  collect(model.model->predict_all(x, {.batch_size = std::max<std::int64_t>(samples, 1)}));
  return out;
}

mezzo_status predict(mezzo_model* model, const mezzo_array* inputs, std::size_t input_count, mezzo_buffer* outputs,
                     std::size_t output_count) {
  constexpr const char* function = "mezzo_predict";
  return guarded([&] {
    require_pointer(model, function, "model");
    require_pointer(outputs, function, "outputs");
    const Tensors x = tensors_of(inputs, input_count, function, "inputs");
    write_outputs(outputs_of(*model, x), outputs, output_count, function);
  });
}

/// Writes the numbers of a step, and keeps their names in the model.
void write_numbers(const Logs& logs, mezzo_model& model, mezzo_numbers* numbers, const char* function) {
  const std::size_t size = size_of(numbers, function, "numbers", least_numbers);
  mezzo_numbers out = copy_of(numbers, function, "numbers", least_numbers);
  out.count = logs.size();
  write_result(out, numbers, size);
  if (out.capacity < logs.size() || (out.entries == nullptr && !logs.empty())) {
    throw StatusError{MEZZO_ERROR_BUFFER,
                      fmt::format("[{}] capacity of numbers must be at least {}; got {}{}", function, logs.size(),
                                  out.capacity, out.entries == nullptr ? " at NULL" : "")};
  }
  std::size_t i = 0;
  for (const auto& [name, value] : logs) out.entries[i++] = {model.names.insert(name).first->c_str(), value};
}

template <class Run>
mezzo_status step(mezzo_model* model, const mezzo_step* given, mezzo_numbers* numbers, const char* function,
                  bool trains, const Run& run) {
  return guarded([&] {
    require_pointer(model, function, "model");
    require_pointer(given, function, "step");
    const mezzo_step arguments = copy_of(given, function, "step", least_step);
    if (numbers != nullptr) size_of(numbers, function, "numbers", least_numbers);
    const Tensors x = tensors_of(arguments.inputs, arguments.input_count, function, "inputs");
    const Tensors y = tensors_of(arguments.targets, arguments.target_count, function, "targets");
    const Tensors weights =
        tensors_of(arguments.sample_weights, arguments.sample_weight_count, function, "sample_weights");
    const std::lock_guard<std::mutex> lock(model->mutex);
    if (trains) model->predictions.snapshot.reset();  // it shares the memory of the weights, which would be copied
    const Logs logs = run(*model->model, x, y, weights);
    if (numbers != nullptr) write_numbers(logs, *model, numbers, function);
  });
}

}  // namespace
}  // namespace mezzo::detail

mezzo_status mezzo_predict(mezzo_model* model, const mezzo_array* inputs, size_t input_count, mezzo_buffer* outputs,
                           size_t output_count) {
  return mezzo::detail::predict(model, inputs, input_count, outputs, output_count);
}

mezzo_status mezzo_train_step(mezzo_model* model, const mezzo_step* step, mezzo_numbers* numbers) {
  return mezzo::detail::step(
      model, step, numbers, "mezzo_train_step", true,
      [](mezzo::Model& one, const mezzo::Tensors& x, const mezzo::Tensors& y, const mezzo::Tensors& weights) {
        return one.train_on_batch(x, y, {.sample_weight = weights});
      });
}

mezzo_status mezzo_evaluate_step(mezzo_model* model, const mezzo_step* step, mezzo_numbers* numbers) {
  return mezzo::detail::step(
      model, step, numbers, "mezzo_evaluate_step", false,
      [](mezzo::Model& one, const mezzo::Tensors& x, const mezzo::Tensors& y, const mezzo::Tensors& weights) {
        return one.test_on_batch(x, y, {.sample_weight = weights});
      });
}
