#pragma once
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/callbacks/monitor.hpp>
#include <mezzo/training/loop_options.hpp>

namespace mezzo {

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";  ///< name in the logs, for save_best_only
  int verbose = 0;                   ///< 1: tells of each file
  bool save_best_only = false;  ///< saves only if `monitor` has improved; always if the logs lack it, with a warning
  /// True: a weight file, as Layer::save_weights writes. False: a whole model, as Model::save writes, if the path ends
  /// in
  /// ".mezzo"; else a checkpoint, as Trainer::save_checkpoint writes, from which a training can be resumed.
  bool save_weights_only = false;
  std::string mode = "auto";                        ///< "min", "max" or "auto": by the name
  Frequency save_freq = "epoch";                    ///< after each epoch, or every so many batches
  std::optional<double> initial_value_threshold{};  ///< a first best value: only better ones are saved
};

/// Saves the model during fit, by Keras' rules. Placeholders in the path are filled: `{epoch}` (from 1), `{batch}`
/// (from 1, if save_freq is in batches) and the names in the logs, with Python's formats:
///
///     ModelCheckpoint("best_{epoch:02d}_{val_loss:.2f}.mezzo", {.save_best_only = true})
///
/// Missing folders are made.
class MEZZO_API ModelCheckpoint : public Callback {
 public:
  /// A ValueError for an empty path, for one that ends in ".keras" or ".h5", and for ".mezzo" with save_weights_only. A
  /// NameError for an unknown mode.
  explicit ModelCheckpoint(std::string filepath, ModelCheckpointOptions options = {});

  std::optional<double> best() const { return best_; }         ///< best value of `monitor`
  const std::string& last_path() const { return last_path_; }  ///< file that was written last

  bool saves() const override { return true; }
  void on_train_begin(Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  std::string state_name() const override { return "ModelCheckpoint." + filepath_; }
  CallbackState state() const override;
  void set_state(const CallbackState& state) override;

 private:
  void save(int epoch, std::optional<std::int64_t> batch, const Logs& logs);
  bool should_save(int epoch, const Logs& logs, const std::string& path);

  std::string filepath_;
  ModelCheckpointOptions options_;
  Monitor monitor_;
  std::optional<double> best_;
  std::string last_path_;
  int batches_ = 0;  // since the last file
};

}  // namespace mezzo
