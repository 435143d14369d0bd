#pragma once
#include <initializer_list>
#include <string>
#include <typeinfo>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/data/loaders.hpp>
#include <mezzo/training/module/checkpoint_options.hpp>
#include <mezzo/training/module/data_module.hpp>
#include <mezzo/training/module/history.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo {

namespace detail {
class DataCall;
struct NoOption {
  NoOption() = delete;
};
}  // namespace detail

/// Options of Trainer::fit.
struct TrainerFitOptions {
  /// Checkpoint to resume from, written by save_checkpoint; "": starts a new training. "last": the newest file of
  /// save_last, enable_checkpointing and SIGTERM or SIGINT; if there is none, a new training starts, with a warning.
  /// "best": the best file of the Trainer's first ModelCheckpoint; a ValueError if there is none.
  std::string ckpt_path{};
  /// False: the training data must be those of the checkpoint. True: batch_size and drop_last may differ; an unfinished
  /// epoch continues after the samples that it has taken.
  bool ckpt_by_samples = false;
};

/// Options of Trainer::validate and test.
struct TrainerEvaluationOptions {
  /// Checkpoint or weight file whose weights are loaded first, as by Layer::load_weights; "": none. "last", "best": as
  /// for fit, but a ValueError if there is no file.
  std::string ckpt_path{};
};

/// Options of Trainer::predict.
struct TrainerPredictOptions {
  std::string ckpt_path{};  ///< as in TrainerEvaluationOptions
  /// False: drops the outputs of each batch after the hooks of its end, such as those of a BasePredictionWriter. The
  /// result is then empty: memory is needed for one batch alone.
  bool return_predictions = true;
};

/// Runs the loops: `Trainer({.max_epochs = 5, .precision = "bf16"}).fit(model, train_loader, val_loader)`. Its
/// precision holds during its calls, for every layer that has no policy of its own or from a container. All calls throw
/// a MemoryError if memory is insufficient, and a ValueError while another call runs the module. They wait while
/// another thread saves or reads its weights.
class MEZZO_API Trainer {
 public:
  /// A ValueError for an option out of its range, or for options that exclude each other.
  explicit Trainer(TrainerOptions options = {});
  explicit Trainer(std::initializer_list<detail::NoOption>) : Trainer() {}  ///< `Trainer({})`

  /// Trains a module and validates after each epoch if there are validation loaders.
  ///
  /// Without `ckpt_path` a new training starts: optimizers begin without state. A ValueError if the training loader is
  /// absent, or if the loss or a gradient is not finite: no variable has changed then, and the text names the layer and
  /// op that computed the first non-finite value. Under loss scaling such a step is skipped instead; a warning names
  /// the layer and op (at an optimizer's skips 1, 2, 3, 4, 8, 16, ...). At the smallest scale such a step is a
  /// ValueError. History then has `loss_scale`, its value at the end of the epoch, and `skipped_steps`, the number of
  /// skips in the epoch; with several optimizers `loss_scale_<name>` and `skipped_steps_<name>`.
  ///
  /// With `ckpt_path` the training of the checkpoint continues until max_epochs and max_steps, which count from its
  /// start. History has the epochs that run now, under their own numbers. Policy and storage options of variables and
  /// optimizer states may differ from those of the checkpoint. The training data may not: a ValueError names each
  /// difference in the number of samples, fields, sampler, seed and batch size. An unfinished epoch continues after the
  /// samples that it has taken, without reading them; an iterable data set starts the epoch again and drops them.
  ///
  /// If policy and options are equal and the checkpoint was saved between two steps, the result is equal, bit for bit,
  /// to that of a training without interruption; the seed of the checkpoint is set for that. A FileError if the file is
  /// malformed, is not a checkpoint, or doesn't fit the module and its optimizers (the text lists missing and
  /// unexpected entries): nothing has changed then.
  History fit(Module& module, const DataLoader& train, const DataLoaders& validation = {},
              const TrainerFitOptions& options = {}) const;

  /// The same with the loaders of a DataModule. Checkpoints keep its state.
  History fit(Module& module, DataModule& data, const TrainerFitOptions& options = {}) const;

  /// Writes a safetensors file from which a training can be resumed under any policy (docs/precision.md): weights,
  /// optimizer states, iterations, loss scales, counts of steps and epochs, seed. The file is replaced atomically: a
  /// FileError leaves an existing file as it was. A ValueError if the module has not been trained, if another thread or
  /// step runs it, or if dtype isn't floating or can't hold a weight.
  static void save_checkpoint(Module& module, const std::string& path, const CheckpointOptions& options = {});

  /// Means over the samples of the numbers that validation_step logs; of a compiled Model, loss and metrics. With
  /// several loaders the names end in "/dataloader_idx_<i>". A ValueError if there is no loader.
  Logs validate(Module& module, const DataLoaders& loaders, const TrainerEvaluationOptions& options = {}) const;
  Logs validate(Module& module, DataModule& data, const TrainerEvaluationOptions& options = {}) const;

  /// The same of the numbers that test_step logs.
  Logs test(Module& module, const DataLoaders& loaders, const TrainerEvaluationOptions& options = {}) const;
  Logs test(Module& module, DataModule& data, const TrainerEvaluationOptions& options = {}) const;

  /// Outputs of predict_step for all samples, concatenated along the batch axis. A ValueError if the loader is absent,
  /// a ShapeError if outputs have no batch axis or differ on another axis.
  Tensor predict(Module& module, const DataLoader& loader, const TrainerPredictOptions& options = {}) const;

  /// The same for each loader.
  std::vector<Tensor> predict(Module& module, const DataLoaders& loaders,
                              const TrainerPredictOptions& options = {}) const;
  std::vector<Tensor> predict(Module& module, DataModule& data, const TrainerPredictOptions& options = {}) const;

  /// The options, those from the environment included.
  const TrainerOptions& options() const {
    if (!usable_) detail::fail_moved(typeid(Trainer));
    return options_;
  }

 private:
  History run_fit(Module& module, DataLoader& train, DataLoaders& validation, const TrainerFitOptions& options,
                  detail::DataCall* data) const;

  TrainerOptions options_;
  detail::UnlessMoved usable_ = true;
};

}  // namespace mezzo
