#pragma once
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>
#include <mezzo/training/callbacks/monitor.hpp>
#include <mezzo/training/loops/limits.hpp>
#include <mezzo/training/loops/loop_options.hpp>

namespace mezzo {

namespace detail {
class TopKCheckpoints;
}  // namespace detail

/// Options of Keras' form, ModelCheckpoint(filepath, {...}).
struct ModelCheckpointOptions {
  std::string monitor = "val_loss";  ///< name in the logs, for save_best_only
  int verbose = 0;                   ///< 1: prints each file
  bool save_best_only = false;       ///< saves only if `monitor` has improved
  /// True: a weight file, as Layer::save_weights writes. False: a whole model, as Model::save writes, if the path ends
  /// in
  /// ".mezzo"; else a checkpoint, as Trainer::save_checkpoint writes, from which a training can be resumed.
  bool save_weights_only = false;
  std::string mode = "auto";                        ///< "min", "max" or "auto": by the name
  detail::Frequency save_freq = "epoch";            ///< after each epoch ("epoch"), or after every n batches (n)
  std::optional<double> initial_value_threshold{};  ///< a first best value: only better ones are saved
};

namespace detail {
/// Option `save_last` of Lightning.
class MEZZO_API SaveLast {
 public:
  SaveLast(bool saves) : saves_(saves) {}
  /// "link". A NameError for another name.
  template <class S, detail::IfName<S> = 0>
  SaveLast(const S& name) : saves_(true), links_(named(name)) {}

  bool saves() const { return saves_; }
  bool links() const { return links_; }

 private:
  static bool named(const std::string& name);
  bool saves_, links_ = false;
};
}  // namespace detail

/// Options of Lightning's form, ModelCheckpoint({...}). At most one of every_n_train_steps, every_n_epochs and
/// train_time_interval may be given; without one, every_n_epochs is 1.
struct TopKCheckpointOptions {
  std::string dirpath{};   ///< folder of the files; "": "checkpoints" in Session::log_dir()
  std::string filename{};  ///< name without ".ckpt", with placeholders; "": "{epoch}-{step}"
  std::string monitor{};   ///< name in the logs; "": none, the last file counts as the best
  bool verbose = false;    ///< prints each decision
  detail::SaveLast save_last =
      false;                       ///< true: a copy "last.ckpt" after each file; "link": a symbolic link to that file
  int save_top_k = 1;              ///< files that stay: the best ones by `monitor`; -1: all, 0: none
  bool save_on_exception = false;  ///< saves when an error ends fit
  bool save_weights_only = false;  ///< true: weight files, false: checkpoints
  std::string mode = "auto";       ///< "min", "max" or "auto": by the name (Lightning: "min")
  bool auto_insert_metric_name = true;                    ///< true: `{epoch}` becomes "epoch=3"; false: "3"
  std::optional<int> every_n_train_steps{};               ///< saves after every n steps
  std::optional<detail::Duration> train_time_interval{};  ///< saves after a batch once this time has passed
  std::optional<int> every_n_epochs{};                    ///< saves after every n epochs
  /// True: saves at the end of epochs, after their validation. False: after each validation. Not given: false if fit
  /// validates in the middle of epochs or not after each one.
  std::optional<bool> save_on_train_epoch_end{};
  bool enable_version_counter = true;  ///< true: adds "-v1", "-v2" to a name that is taken; false: replaces the file
};

/// Saves the model during fit, by Keras' rules or, without a filepath, by Lightning's. Placeholders in the path are
/// filled: `{epoch}` (from 1), `{batch}` (from 1, if save_freq is in batches) and the names in the logs, with Python's
/// formats:
///
///     ModelCheckpoint("best_{epoch:02d}_{val_loss:.2f}.mezzo", {.save_best_only = true})
///
/// Missing folders are made.
///
/// Lightning's form keeps the best files and removes the others:
///
///     ModelCheckpoint({.filename = "{epoch:02d}-{val_loss:.2f}", .monitor = "val_loss", .save_last = true,
///                      .save_top_k = 3})
///
/// writes "checkpoints/epoch=04-val_loss=0.25.ckpt". Epochs count from 0 there, and `{step}` is global_step(). A file
/// is due once per step; if `monitor` is not a number of training, it is saved after the next validation. Only files in
/// `dirpath` are removed, and never the one that fit resumed from. Checkpoints keep the names and scores. Copies of the
/// callback share them.
///
/// With several ranks rank 0 writes the files. At the end of fit the callbacks of the other ranks have the same paths
/// and scores.
class MEZZO_API ModelCheckpoint : public Callback {
 public:
  /// A ValueError for an empty path, for one with the suffix of another format (".keras", ".h5", ".pt"), and for
  /// ".mezzo" with save_weights_only. A NameError for an unknown mode.
  template <class S, detail::IfName<S> = 0>
  explicit ModelCheckpoint(const S& filepath, ModelCheckpointOptions options = {})
      : ModelCheckpoint(0, std::string(filepath), std::move(options)) {}
  /// A ValueError for an option out of its range, options that exclude each other, or save_top_k above 1 without a
  /// monitor. A NameError for an unknown mode.
  explicit ModelCheckpoint(TopKCheckpointOptions options);

  std::optional<double> best() const;    ///< best value of `monitor`
  const std::string& last_path() const;  ///< file that was written last

  /// @name Files of Lightning's form; none in Keras' form
  /// @{
  std::string best_model_path() const;                  ///< the best file; without a monitor the last one
  std::map<std::string, double> best_k_models() const;  ///< files that stay, with their scores
  std::string kth_best_model_path() const;              ///< the worst of save_top_k files; "" if there are fewer
  std::string last_model_path() const;                  ///< file of save_last
  /// @}

  /// @name Files of a Trainer's `ckpt_path`
  /// @{
  /// "best": best_model_path(); in Keras' form the last file of save_best_only. "" if there is none.
  std::string best_checkpoint() const;
  /// Candidates for "last", of this run and of earlier ones: "last*.ckpt" of save_last in dirpath ("checkpoints" in
  /// `root` if that isn't known), the filepath of Keras' form without placeholders, and last_path(). Only checkpoints.
  std::vector<std::string> last_checkpoints(const std::string& root) const;
  /// @}

  bool saves() const override { return true; }
  void on_train_begin(Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  void on_validation_end(Logs& logs) override;
  void on_train_end(Logs& logs) override;
  void on_exception(const std::exception& error) override;
  std::string state_name() const override;
  CallbackState state() const override;
  void set_state(const CallbackState& state) override;
  std::optional<CallbackState> results() const override;
  void take_results(const CallbackState& results) override;

 private:
  ModelCheckpoint(int, std::string filepath, ModelCheckpointOptions options);
  void save(int epoch, std::optional<std::int64_t> batch, const Logs& logs);
  bool is_best(int epoch, double current, const std::string& path);

  std::string filepath_;
  ModelCheckpointOptions options_;
  detail::Monitor monitor_;
  std::optional<double> best_;
  std::string last_path_;
  int batches_ = 0;                                 // since the last file
  std::shared_ptr<detail::TopKCheckpoints> top_k_;  // Lightning's form
};

}  // namespace mezzo
