#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/loops/loop_options.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct BackupAndRestoreOptions {
  detail::Frequency save_freq = "epoch";  ///< after each epoch ("epoch"), or after every n batches (n)
  bool double_checkpoint = false;  ///< also keeps the backup before the last one, and reads it if the last is damaged
  bool delete_checkpoint = true;   ///< deletes the backups once fit has ended without an error
};

/// Saves the training in a folder, and continues it from there if a fit with the same folder begins: after a crash, a
/// kill or an error. The backup is a checkpoint, so the continued training takes the batch after that of the backup and
/// ends bit for bit like one that was not interrupted (Keras begins the epoch again). The History has the epochs of
/// this fit only.
class MEZZO_API BackupAndRestore : public Callback {
 public:
  /// A ValueError for an empty folder name.
  explicit BackupAndRestore(std::string backup_dir, const BackupAndRestoreOptions& options = {});

  bool saves() const override { return true; }

  /// A FileError if a backup is damaged or doesn't fit the model.
  void on_train_begin(Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  /// Deletes the backups, and the folder if it is empty then.
  void on_train_end(Logs& logs) override;
  std::string state_name() const override { return "BackupAndRestore"; }
  CallbackState state() const override;
  void set_state(const CallbackState& state) override;

 private:
  std::string path(bool before) const;
  void save();

  std::string backup_dir_;
  BackupAndRestoreOptions options_;
  int batches_ = 0;  // since the last backup
};

}  // namespace mezzo
