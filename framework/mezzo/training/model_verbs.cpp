#include <mezzo/training/model.hpp>

#include <set>
#include <tuple>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/loops.hpp>

namespace mezzo {
namespace {

DataLoader in_order(const Dataset& data, std::int64_t batch_size) {
  return DataLoader(data, {.batch_size = batch_size});
}

Dataset arrays(const Tensor& x, const Tensor& y) {
  return Dataset::from_tensors({{"x", x, Role::input}, {"y", y, Role::target}});
}

Dataset weighted_arrays(const Tensor& x, const Tensor& y, const Tensor& sample_weight) {
  return Dataset::from_tensors(
      {{"x", x, Role::input}, {"y", y, Role::target}, {"sample_weight", sample_weight, Role::weight}});
}

}  // namespace

void Model::compile(CompileOptions options) {
  if (!options.loss) fail<ValueError>(label(), "compile: loss is required; got none");
  if (!options.optimizer) fail<ValueError>(label(), "compile: optimizer is required; got none");
  if (options.loss_scale) check_loss_scale(*options.loss_scale, label() + " compile: loss_scale.");
  std::set<std::string> names{"loss"};
  for (std::size_t i = 0; i < options.metrics.size(); ++i) {
    const Any<Metric>& metric = options.metrics[i];
    if (!metric) fail<ValueError>(label(), "compile: metrics must not be empty; got an empty one at index {}", i);
    if (!names.insert(metric->name()).second) {
      fail<NameError>(label(), "compile: names of loss and metrics must differ; got \"{}\" twice", metric->name());
    }
  }
  const detail::IdleScope idle(*this);
  compiled_ = std::move(options);
  detail::forget_training(*this);
}

void Model::require_compiled(const std::string& verb) const {
  if (!compiled_) fail<ValueError>(label(), "{}: the model must be compiled; got one without a loss", verb);
}

History Model::fit(const Tensor& x, const Tensor& y, const FitOptions& options) {
  if (!(options.validation_split >= 0 && options.validation_split < 1)) {
    fail<ValueError>(label(), "fit: validation_split must be in [0, 1); got {}", options.validation_split);
  }
  Dataset data = options.sample_weight ? weighted_arrays(x, y, *options.sample_weight) : arrays(x, y);
  Dataset validation;
  if (options.validation_data) {
    validation = arrays(options.validation_data->first, options.validation_data->second);
  } else if (options.validation_split > 0) {
    std::tie(data, validation) = data.split(1 - options.validation_split);
  }
  if (options.validation_batch_size < 0) {
    fail<ValueError>(label(), "fit: validation_batch_size must be 0 or more; got {}", options.validation_batch_size);
  }
  const std::int64_t validation_size =
      options.validation_batch_size > 0 ? options.validation_batch_size : options.batch_size;
  const DataLoader train(data, {.batch_size = options.batch_size, .shuffle = options.shuffle});
  const bool validates = options.validation_data || validation.size() > 0;
  return fit(train, {.epochs = options.epochs,
                     .verbose = options.verbose,
                     .callbacks = options.callbacks,
                     .validation_data = validates ? in_order(validation, validation_size) : DataLoader(),
                     .initial_epoch = options.initial_epoch,
                     .steps_per_epoch = options.steps_per_epoch,
                     .validation_steps = options.validation_steps,
                     .validation_freq = options.validation_freq});
}

History Model::fit(const DataLoader& loader, const FitLoaderOptions& options) {
  if (options.epochs < 0) {
    fail<ValueError>(label(), "fit: epochs must be 0 or more; got {}", options.epochs);
  }
  if (options.initial_epoch < 0) {
    fail<ValueError>(label(), "fit: initial_epoch must be 0 or more; got {}", options.initial_epoch);
  }
  return detail::fit(*this, loader, options.validation_data, {},
                     {.epochs = options.epochs,
                      .initial_epoch = options.initial_epoch,
                      .steps_per_epoch = options.steps_per_epoch,
                      .validation_steps = options.validation_steps,
                      .validation_freq = options.validation_freq,
                      .verbose = options.verbose,
                      .callbacks = options.callbacks});
}

Logs Model::evaluate(const Tensor& x, const Tensor& y, const EvaluateOptions& options) {
  return evaluate(in_order(arrays(x, y), options.batch_size),
                  {.verbose = options.verbose, .steps = options.steps, .callbacks = options.callbacks});
}

Logs Model::evaluate(const DataLoader& loader, const EvaluateLoaderOptions& options) {
  return detail::evaluate(*this, loader, detail::Phase::validate, {},
                          {.verbose = options.verbose, .steps = options.steps, .callbacks = options.callbacks});
}

Tensor Model::predict(const Tensor& x, const EvaluateOptions& options) {
  return predict(in_order(Dataset::from_tensors({{"x", x, Role::input}}), options.batch_size),
                 {.verbose = options.verbose, .steps = options.steps, .callbacks = options.callbacks});
}

Tensor Model::predict(const DataLoader& loader, const EvaluateLoaderOptions& options) {
  return detail::predict(*this, loader, {},
                         {.verbose = options.verbose, .steps = options.steps, .callbacks = options.callbacks});
}

}  // namespace mezzo
