#include <algorithm>
#include <cmath>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/nn/file_formats.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/checkpoints/optimizer_sections.hpp>
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/step/metric_scope.hpp>
#include <mezzo/training/step/whole_states.hpp>

namespace mezzo::detail {
namespace checkpoint_format {

std::string weight_key(const std::string& weight) { return fmt::format("model.{}", weight); }

std::string optimizer_key(const std::string& optimizer, const std::string& what) {
  return optimizer.empty() ? fmt::format("optimizer.{}", what) : fmt::format("optimizer.{}.{}", optimizer, what);
}

std::string slot_key(const std::string& optimizer, const std::string& slot, const std::string& weight) {
  return optimizer_key(optimizer, fmt::format("{}.{}", slot, weight));
}

std::string metric_key(const std::string& metric, std::size_t variable) {
  return fmt::format("metric.{}.{}", metric, variable);
}

std::string callback_key(const std::string& callback, const std::string& what) {
  return callback.empty() ? "callback." : fmt::format("callback.{}.{}", callback, what);
}

}  // namespace checkpoint_format
namespace {

namespace names = checkpoint_format;

/// Casts weights to the dtype of the options, and records the largest rounding error.
class Rounding {
 public:
  explicit Rounding(const CheckpointOptions& options) : dtype_(options.dtype) {
    if (dtype_ && !is_floating(*dtype_)) {
      fail<ValueError>("[Trainer]", "save_checkpoint: dtype must be floating; got {}", *dtype_);
    }
  }

  /// Dtype in which a weight is stored.
  DType of(const VariableState& weight) const {
    return dtype_ && is_floating(weight.dtype()) && !weight.fixed_dtype ? *dtype_ : file_dtype(weight.dtype());
  }

  Tensor round(const std::string& name, const Tensor& numbers, DType dtype) {
    Tensor rounded = numbers.cast(dtype);
    if (!is_floating(dtype) || dtype_size(dtype) >= dtype_size(numbers.dtype())) return rounded;
    const std::vector<double> before = numbers.to_doubles(), after = rounded.to_doubles();
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] == after[i] || !std::isfinite(before[i])) continue;
      if (!std::isfinite(after[i])) {
        fail<ValueError>("[Trainer]", "save_checkpoint: values of \"{}\" must be finite in {}; got {}", name, dtype,
                         before[i]);
      }
      const double relative = std::abs(after[i] - before[i]) / std::abs(before[i]);
      if (relative <= largest_) continue;
      largest_ = relative;
      where_ = name;
    }
    return rounded;
  }

  /// Warns if any weight was rounded.
  void warn_if_rounded() const {
    if (largest_ == 0) return;
    warn(fmt::format("[Trainer] save_checkpoint: weights were rounded to {}, by up to {:.2g} of a weight (\"{}\")",
                     *dtype_, largest_, where_));
  }

 private:
  std::optional<DType> dtype_;
  double largest_ = 0;  // relative error
  std::string where_;   // weight with that error
};

/// Writes the number of a metric in the epoch to the entry, for an epoch without further batches. Returns the numbers
/// of the metric's variables in the epoch.
std::vector<Tensor> keep_number(Means::Entry& entry, const MetricScope* set_aside) {
  MetricState& metric = *entry.metric->state();
  const std::vector<Tensor> now = metric.numbers();
  const auto aside = set_aside == nullptr ? std::nullopt : set_aside->numbers_of(metric);
  if (aside) metric.set(*aside);  // a validation uses the metric at this time
  entry.total = entry.number() * entry.samples;
  if (aside) metric.set(now);
  return aside.value_or(now);
}

/// Adds the numbers that differ from the counters of whole epochs and, if `session`, the state of the running fit.
void add_progress(const TrainingState& state, bool session, NamedTensors& tensors, Metadata& metadata) {
  if (state.updates != state.step) metadata[names::updates] = fmt::to_string(state.updates);
  const double seconds = state.session == nullptr ? state.seconds : state.session->seconds();
  if (seconds > 0) metadata[names::seconds] = fmt::format("{}", seconds);
  metadata[names::pass] = fmt::to_string(state.pass);
  metadata[names::position] = fmt::to_string(state.position);
  if (state.samples > 0) metadata[names::samples] = fmt::to_string(state.samples);
  if (state.data.batch_size > 0) metadata[names::data] = text_of(state.data);
  if (state.session == nullptr || !session) return;
  if (!state.evaluated_batches.empty()) metadata[names::evaluated_batches] = text_of(state.evaluated_batches);
  metadata[names::fit_epoch] = fmt::to_string(state.fit_epoch);
  if (state.batch > 0) {
    std::vector<Means::Entry> entries = state.epoch_means.entries();
    for (Means::Entry& entry : entries) {
      if (!entry.metric) continue;
      const std::vector<Tensor> numbers = keep_number(entry, state.set_aside);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        tensors.emplace_back(names::metric_key(entry.name, i), numbers[i]);
      }
    }
    metadata[names::epoch_numbers] = text_of(EpochNumbers{.means = entries,
                                                          .skipped_before = state.skipped_before,
                                                          .validated = state.validated,
                                                          .validated_at = state.validated_at});
  }
}

/// Adds the values of the module and, if `session`, of the callbacks of the running fit.
void add_values(Module& module, FitSession* session, NamedTensors& tensors, Metadata& metadata) {
  CallbackNumbers numbers;
  CallbackTexts texts;
  const auto add = [&](const std::string& name, const CallbackState& kept) {
    numbers[name] = kept.numbers;
    if (!kept.texts.empty()) texts[name] = kept.texts;
    for (const auto& [key, tensor] : kept.tensors) tensors.emplace_back(names::callback_key(name, key), tensor);
  };
  if (session != nullptr) {
    for (const auto& [name, callback] : session->stateful()) add(name, callback->state());
  }
  CallbackState own;
  module.on_save_checkpoint(own);
  if (!own.numbers.empty() || !own.tensors.empty() || !own.texts.empty()) add(names::module, own);
  if (!numbers.empty()) metadata[names::callbacks] = text_of(numbers);
  if (!texts.empty()) metadata[names::callback_texts] = text_of(texts);
}

}  // namespace

CheckpointContent collect_checkpoint(Module& module, const CheckpointOptions& options, bool training, bool session) {
  Rounding rounding(options);
  const WholeStates whole_states(module);
  const TrainingState& state = training_state(module);
  static const OptimizerConfigs none;
  const OptimizerConfigs& optimizers = training ? state.optimizers : none;
  NamedTensors tensors;
  for (const FileWeight& weight : file_weights(*module.state()).weights) {
    const Tensor numbers = whole_weight(*weight.variable.state(), state.optimizers);
    const DType dtype = rounding.of(*weight.variable.state());
    tensors.emplace_back(names::weight_key(weight.name()),
                         weight.in_file(rounding.round(weight.name(), numbers, dtype)));
    const bool rounded = dtype_size(dtype) < dtype_size(numbers.dtype());
    for (const OptimizerConfig& config : optimizers) add_slots(config, weight, rounded, tensors);
  }
  Metadata metadata;
  if (training) {
    metadata = {{names::seed, fmt::to_string(seed())},
                {names::threads, fmt::to_string(thread_count())},
                {names::step, fmt::to_string(state.step)},
                {names::epoch, fmt::to_string(state.epoch)},
                {names::batch, fmt::to_string(state.batch)}};
    for (const OptimizerConfig& config : optimizers) add_optimizer_numbers(config, metadata);
    for (std::size_t i = 0; i < std::min(optimizers.size(), state.schedulers.size()); ++i) {
      if (optimizers[i].lr_scheduler.empty()) continue;
      metadata[names::optimizer_key(optimizers[i].name, names::scheduler)] = text_of(state.schedulers[i]);
    }
    if (!state.chosen.inherits()) metadata[names::precision] = state.chosen.name();
    if (!module.hyperparameters().empty()) metadata[names::hyperparameters] = text_of(module.hyperparameters());
    add_progress(state, session, tensors, metadata);
    add_values(module, session ? state.session : nullptr, tensors, metadata);
  }
  rounding.warn_if_rounded();
  return {std::move(tensors), std::move(metadata)};
}

void save_checkpoint(Module& module, const std::string& path, const CheckpointOptions& options) {
  check_suffix(path, FileKind::safetensors, "[Trainer] save_checkpoint:", ".ckpt, or have a suffix of its own");
  std::optional<IdleScope> idle(std::in_place, module, false);
  if (!training_state(module).configured) {
    fail<ValueError>("[Trainer]", "save_checkpoint: the module must have been trained by fit(); got an untrained one");
  }
  CheckpointContent content = collect_checkpoint(module, options, true, true);
  content.metadata[names::format] = file_formats::checkpoint;
  content.metadata[names::format_version] = fmt::to_string(names::version);
  idle.reset();  // the model may continue to train: the tensors are copies, by copy on write
  save_safetensors(path, content.tensors, content.metadata);
}

}  // namespace mezzo::detail
