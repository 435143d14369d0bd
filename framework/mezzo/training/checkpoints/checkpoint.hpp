#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/checkpoints/checkpoint_reader.hpp>
#include <mezzo/training/checkpoints/checkpoint_sections.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// Format of checkpoints: a safetensors file. Its tensors are `model.<weight>` and `optimizer.<name>.<slot>.<weight>`,
/// with the names and layouts of weight files. Its metadata holds numbers under the keys below; those of an optimizer
/// have the prefix `optimizer.<name>.`. An optimizer without a name has no `<name>.` in its keys. Header and tensors
/// have checksums, and a file without them is refused.
///
/// A checkpoint that is saved inside of fit may have more: numbers of the unfinished epoch, the number of the epoch in
/// its fit, the states of metrics (`metric.<name>.<variable>`) and those of callbacks (`callback.<callback>.<name>`).
namespace checkpoint_format {
constexpr int version = 2;  ///< value of `format_version`; see checkpoint_migrations()
constexpr const char *format = "format", *format_version = "format_version";
constexpr const char *seed = "seed", *step = "global_step", *epoch = "epoch", *batch = "batches_in_epoch";
constexpr const char *updates = "updates", *seconds = "training_seconds";  ///< absent if equal to `step`; if 0
constexpr const char *pass = "data_pass", *position = "batches_in_pass";
constexpr const char* samples = "samples_in_pass";          ///< absent at the beginning of a pass
constexpr const char* data = "data";                        ///< LoaderFingerprint of the training data
constexpr const char* threads = "threads";                  ///< thread_count(); absent in files of version 1
constexpr const char* precision = "precision";              ///< choice of "auto", absent if there is none
constexpr const char* hyperparameters = "hyperparameters";  ///< absent if there are none
constexpr const char* fit_epoch = "fit_epoch";              ///< only inside of fit
constexpr const char* epoch_numbers = "epoch_numbers";      ///< EpochNumbers, in the middle of an epoch
/// Counters: FitRecord::evaluated_batches, absent if there are none.
constexpr const char* evaluated_batches = "validation_batches";
constexpr const char* callbacks = "callbacks";            ///< CallbackNumbers
constexpr const char* module = "Module";                  ///< name of the module's own values among the callbacks
constexpr const char* callback_texts = "callback_texts";  ///< CallbackTexts, absent if there are none
constexpr const char* iterations = "iterations";          ///< per optimizer
/// Per optimizer: steps whose gradients are accumulated, absent if 0; learning rate, absent unless it was set.
constexpr const char *accumulated = "accumulated_steps", *learning_rate = "learning_rate";
constexpr const char* scheduler = "scheduler";  ///< SchedulerState; per optimizer, absent without lr_scheduler
/// Per optimizer, absent as long as its loss scale is in its initial state.
constexpr const char *loss_scale = "loss_scale", *finite_steps = "finite_steps", *skipped = "skipped_steps";

std::string weight_key(const std::string& weight);
std::string optimizer_key(const std::string& optimizer, const std::string& what);
std::string slot_key(const std::string& optimizer, const std::string& slot, const std::string& weight);
std::string metric_key(const std::string& metric, std::size_t variable);
std::string callback_key(const std::string& callback, const std::string& what);
}  // namespace checkpoint_format

/// Reader of a file of mezzo that has another format than the wanted one, for the end of an error:
/// ` (a model: load_model reads it)`. "" for formats of others.
std::string reader_of_format(const std::string& format);

/// Contents of a checkpoint file.
struct CheckpointContent {
  NamedTensors tensors;
  Metadata metadata;  ///< without `format`
};

/// Weights of a model, and its training if `training`: optimizers and counters. `session`: also the state of the
/// running fit. The caller makes the module idle.
CheckpointContent collect_checkpoint(Module& module, const CheckpointOptions& options, bool training, bool session);

/// Implements Trainer::save_checkpoint.
void save_checkpoint(Module& module, const std::string& path, const CheckpointOptions& options);

/// Training data of a fit that resumes.
struct TrainingData {
  const DataLoader& loader;
  std::int64_t epoch;  ///< FitLimits::epoch
  bool whole_passes;   ///< FitLimits::whole_passes
  bool by_samples;     ///< TrainerFitOptions::ckpt_by_samples
};

/// A checkpoint that is open for reading.
class Checkpoint {
 public:
  /// Opens the file and reads its counters. A FileError if it is malformed or not a checkpoint.
  explicit Checkpoint(const std::string& path);

  /// The same for a model file with a training in it, which its reader has opened and checked.
  explicit Checkpoint(SafetensorsFile file);

  /// Restores weights, counters and newly made optimizers of the runner's module, whose layers must be built. The
  /// weights with states in the file are those that the optimizers have updated. A FileError if anything doesn't fit:
  /// nothing has changed then.
  void restore(StepRunner& runner) const;

  /// Restores weights, counters and newly made optimizers of the runner's module. Its layers must be built. `batch` is
  /// a training batch, from which the trained weights are found. A FileError if anything doesn't fit: nothing has
  /// changed then.
  void resume(StepRunner& runner, const HostBatch& batch, const TrainingData& data) const;

  /// Position of the next training batch. A ValueError if the data differ from those of the checkpoint, a FileError if
  /// the position is beyond their end.
  LoaderPosition position(const TrainingData& data) const;

  const std::string& path() const { return file_.path(); }

  /// State that the checkpoint keeps under a name of a callback.
  std::optional<CallbackState> callback_state(const std::string& name) const;

  /// Choice of precision "auto" in the training, if there is one.
  std::optional<Policy> chosen() const;

  /// Hyperparameters of the module.
  const Hyperparameters& hyperparameters() const { return hyperparameters_; }

  /// Warns if the training ran on another number of threads.
  void warn_of_threads() const;

  /// Calls on_resume() of the callbacks with a state in the checkpoint, before resume().
  void prepare_callbacks(const NamedCallbacks& callbacks) const;

  /// Restores the states of the callbacks that have one in the checkpoint.
  void restore_callbacks(const NamedCallbacks& callbacks) const;

 private:
  /// Content of a file for a module, read and checked.
  struct Loaded {
    OptimizerConfigs configs;
    std::vector<std::int64_t> iterations, accumulated;
    std::vector<std::optional<LossScaleState>> scales;
    std::vector<std::optional<double>> rates;
    std::vector<SchedulerState> schedulers;
    std::vector<SavedWeight> weights;
  };
  using Updated = std::function<bool(std::size_t optimizer, const FileWeight& weight)>;
  /// True for the weights with states in the file.
  Updated updated_in_file(const OptimizerConfigs& configs) const;
  Loaded load(const Module& module, OptimizerConfigs configs, const Updated& updated) const;
  void commit(StepRunner& runner, Loaded& loaded) const;
  void read_counters();
  /// Progress in these data.
  Progress progress_in(const TrainingData& data) const;
  /// A FileError if that progress is beyond the end of the data.
  void check_end(const Progress& progress, const TrainingData& data) const;

  template <class Number>
  Number number(const std::string& key) const;
  std::int64_t count(const std::string& key, std::int64_t most) const;
  std::int64_t count_or(const std::string& key, std::int64_t most, std::int64_t otherwise) const;
  /// Metadata of that key, or "".
  std::string text(const std::string& key) const;
  std::optional<LossScaleState> loss_scale(const std::string& optimizer) const;
  std::int64_t accumulated_steps(const std::string& key, const Optimizer& optimizer) const;
  [[noreturn]] void refuse(const std::string& text) const;

  SafetensorsFile file_;
  Metadata metadata_;  // of the newest format
  std::uint64_t seed_ = 0;
  Progress progress_;
  std::optional<LoaderFingerprint> data_;  // none in files of version 1
  EpochNumbers epoch_numbers_;
  std::vector<std::int64_t> evaluated_batches_;
  CallbackNumbers callbacks_;
  CallbackTexts callback_texts_;
  Hyperparameters hyperparameters_;
};

}  // namespace mezzo::detail
