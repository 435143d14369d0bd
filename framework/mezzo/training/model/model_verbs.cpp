#include <mezzo/training/model/class_targets.hpp>
#include <mezzo/training/model/model.hpp>

#include <algorithm>
#include <optional>
#include <tuple>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/loops.hpp>
#include <mezzo/training/model/sequential.hpp>
#include <mezzo/training/step/batch_calls.hpp>

namespace mezzo {
namespace {

DataLoader unshuffled(const Dataset& data, std::int64_t batch_size) {
  return DataLoader(data, {.batch_size = batch_size});
}

/// Options of a loop of evaluation or prediction.
template <class Options>
EvaluateLoaderOptions loop_options(const Options& options) {
  return {.verbose = options.verbose, .steps = options.steps, .callbacks = options.callbacks};
}

detail::EvaluationSettings evaluation_settings(const EvaluateLoaderOptions& options) {
  return {.call = {.verbose = options.verbose, .callbacks = options.callbacks}, .steps = options.steps};
}

/// True if an item of the list is a list itself.
bool nested(const Metrics& metrics) {
  for (const Metrics& item : metrics.items()) {
    if (item.is_list()) return true;
  }
  return false;
}

}  // namespace

void Model::compile(CompileOptions options) {
  // A class of a user's own may have another training_step() or compute_loss(), or add_loss().
  const bool derived = graph_.empty() && dynamic_cast<const Sequential*>(this) == nullptr;
  if (options.loss.empty() && !derived && !graph_.adds_losses())
    fail<ValueError>(label(), "compile: loss is required; got none");
  std::optional<detail::CompiledOutputs> outputs;
  if (!graph_.empty()) {
    outputs.emplace(options, graph_.output_names(), label());
  } else if (!output_names_.empty() && !options.loss.empty()) {
    outputs.emplace(options, output_names_, label());
  } else if (!options.loss.empty() && options.loss.named.empty() && !nested(options.metrics) &&
             !nested(options.weighted_metrics)) {
    const std::size_t count = options.loss.list.size();
    outputs.emplace(options, names_of_outputs(count), label());
  }
  if (!options.optimizer) fail<ValueError>(label(), "compile: optimizer is required; got none");
  options.optimizer->check_not_moved();
  if (options.loss_scale) detail::check_loss_scale(*options.loss_scale, label() + " compile: loss_scale.");
  const detail::IdleScope idle(*this);
  compiled_ = std::move(options);
  outputs_ = std::move(outputs);
  detail::forget_training(*this);
}

void Model::require_compiled(const std::string& verb) const {
  if (!compiled_) fail<ValueError>(label(), "{}: the model must be compiled; got one without a loss", verb);
}

History Model::fit(const Tensors& x, const Tensors& y, const FitOptions& options) {
  require_compiled("fit");
  FitOptions rest = options;
  rest.sample_weight = Tensors();
  return fit(dataset_of(x, &y, &options.sample_weight), rest);
}

History Model::fit(const Dataset& samples, const FitOptions& options) {
  require_compiled("fit");
  if (!(options.validation_split >= 0 && options.validation_split < 1)) {
    fail<ValueError>(label(), "fit: validation_split must be in [0, 1); got {}", options.validation_split);
  }
  if (options.validation_batch_size < 0) {
    fail<ValueError>(label(), "fit: validation_batch_size must be 0 or more; got {}", options.validation_batch_size);
  }
  if (!options.sample_weight.empty()) {
    fail<ValueError>(label(), "fit: a Dataset has sample weights as fields of Role::weight; got sample_weight");
  }
  const std::int64_t validation_size =
      options.validation_batch_size > 0 ? options.validation_batch_size : options.batch_size;
  Dataset data = samples;
  DataLoader validation = validation_of(options.validation_data, validation_size);
  if (validation.empty() && options.validation_split > 0) {
    Dataset rest;
    std::tie(data, rest) = samples.split(1 - options.validation_split);
    if (rest.size() > 0) validation = unshuffled(rest, validation_size);
  }
  return fit(DataLoader(data, {.batch_size = options.batch_size, .shuffle = options.shuffle}),
             {.epochs = options.epochs,
              .verbose = options.verbose,
              .callbacks = options.callbacks,
              .validation_data = validation,
              .class_weight = options.class_weight,
              .initial_epoch = options.initial_epoch,
              .steps_per_epoch = options.steps_per_epoch,
              .validation_steps = options.validation_steps,
              .validation_freq = options.validation_freq});
}

History Model::fit(const DataLoader& loader, const FitLoaderOptions& options) {
  require_compiled("fit");
  if (options.epochs < 0) {
    fail<ValueError>(label(), "fit: epochs must be 0 or more; got {}", options.epochs);
  }
  if (options.initial_epoch < 0) {
    fail<ValueError>(label(), "fit: initial_epoch must be 0 or more; got {}", options.initial_epoch);
  }
  DataLoader train = loader;
  if (!options.class_weight.empty() && !loader.empty()) {
    train = loader.with_dataset(
        detail::class_weighted(loader.dataset(), options.class_weight, *compiled_, label() + " fit:"));
  }
  constexpr std::int64_t batch_size = 32;  // of validation on arrays
  return detail::fit(*this, train, validation_of(options.validation_data, batch_size),
                     {.call = {.verbose = options.verbose, .callbacks = options.callbacks},
                      .epochs = options.epochs,
                      .initial_epoch = options.initial_epoch,
                      .steps_per_epoch = options.steps_per_epoch,
                      .validation_steps = options.validation_steps,
                      .validation_freq = options.validation_freq});
}

Logs Model::evaluate(const Tensors& x, const Tensors& y, const EvaluateOptions& options) {
  require_compiled("evaluate");
  return evaluate(unshuffled(dataset_of(x, &y, &options.sample_weight), options.batch_size), loop_options(options));
}

Logs Model::evaluate(const Dataset& data, const EvaluateOptions& options) {
  if (!options.sample_weight.empty()) {
    fail<ValueError>(label(), "evaluate: a Dataset has sample weights as fields of Role::weight; got sample_weight");
  }
  return evaluate(unshuffled(data, options.batch_size), loop_options(options));
}

Logs Model::evaluate(const DataLoader& loader, const EvaluateLoaderOptions& options) {
  return detail::evaluate(*this, loader, Stage::validate, evaluation_settings(options));
}

Tensor Model::predict(const Tensors& x, const PredictOptions& options) {
  return predict(dataset_of(x, nullptr, nullptr), options);
}

Tensor Model::predict(const Dataset& data, const PredictOptions& options) {
  return predict(unshuffled(data, options.batch_size), loop_options(options));
}

Tensor Model::predict(const DataLoader& loader, const EvaluateLoaderOptions& options) {
  return detail::predict(*this, loader, evaluation_settings(options)).front();
}

Tensors Model::predict_all(const Tensors& x, const PredictOptions& options) {
  return predict_all(dataset_of(x, nullptr, nullptr), options);
}

Tensors Model::predict_all(const Dataset& data, const PredictOptions& options) {
  return predict_all(unshuffled(data, options.batch_size), loop_options(options));
}

Tensors Model::predict_all(const DataLoader& loader, const EvaluateLoaderOptions& options) {
  std::vector<Tensor> outputs = detail::predict_all(*this, loader, evaluation_settings(options));
  const std::vector<std::string> names = names_of_outputs(outputs.size());
  if (names.size() != outputs.size()) return outputs;  // a predict_step of a derived class may return other outputs
  std::vector<Tensors::Entry> entries;
  for (std::size_t i = 0; i < names.size(); ++i) entries.emplace_back(names[i], std::move(outputs[i]));
  return Tensors(std::move(entries));
}

Predictor Model::predictor(const PredictorOptions& options) { return {*this, options, &Predictor::copy_of_registered}; }

Logs Model::train_on_batch(const Tensors& x, const Tensors& y, const TrainOnBatchOptions& options) {
  const HostBatch batch = batch_of(x, y, options.sample_weight, options.class_weight, "train_on_batch");
  return detail::run_batch(*this, Stage::fit, batch, {});
}

Logs Model::test_on_batch(const Tensors& x, const Tensors& y, const TestOnBatchOptions& options) {
  const HostBatch batch = batch_of(x, y, options.sample_weight, {}, "test_on_batch");
  return detail::run_batch(*this, Stage::validate, batch, {});
}

Tensor Model::predict_on_batch(const Tensors& x) {
  return predict(x, {.batch_size = x.empty() || x[0].shape().empty() ? 1 : std::max<std::int64_t>(x[0].shape()[0], 1)});
}

}  // namespace mezzo
