#include <mezzo/training/callbacks/backup_and_restore.hpp>

#include <filesystem>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo {
namespace {

namespace fs = std::filesystem;
const char* const backup_label = "[BackupAndRestore]";

}  // namespace

BackupAndRestore::BackupAndRestore(std::string backup_dir, const BackupAndRestoreOptions& options)
    : backup_dir_(std::move(backup_dir)), options_(options) {
  if (backup_dir_.empty()) fail<ValueError>(backup_label, "backup_dir must not be empty");
}

std::string BackupAndRestore::path(bool before) const {
  return (fs::path(backup_dir_) / (before ? "latest.safetensors.bkp" : "latest.safetensors")).string();
}

void BackupAndRestore::on_train_begin(Logs&) {
  batches_ = 0;
  const bool latest = fs::exists(path(false)), before = options_.double_checkpoint && fs::exists(path(true));
  if (!latest && !before) return;
  if (!before) return session().resume(path(false));
  try {
    if (latest) return session().resume(path(false));
  } catch (const FileError& error) {
    detail::warn(fmt::format("{} takes the backup before the last one: {}", backup_label, error.what()));
  }
  session().resume(path(true));
}

void BackupAndRestore::save() {
  batches_ = 0;
  const std::string latest = path(false);
  detail::make_folder_of(backup_label, latest);
  if (options_.double_checkpoint && fs::exists(latest)) {
    detail::keep_generation(latest, path(true), backup_label);
  }
  session().save_checkpoint(latest);
}

void BackupAndRestore::on_train_batch_end(std::int64_t, Logs&) {
  if (!options_.save_freq.by_epoch() && ++batches_ >= options_.save_freq.batches()) save();
}

void BackupAndRestore::on_epoch_end(int, Logs&) {
  if (options_.save_freq.by_epoch()) save();
}

void BackupAndRestore::on_train_end(Logs&) {
  if (!options_.delete_checkpoint) return;
  std::error_code ignored;
  fs::remove(path(false), ignored);
  fs::remove(path(true), ignored);
  fs::remove(backup_dir_, ignored);  // only if it is empty
}

CallbackState BackupAndRestore::state() const {
  return {.numbers = {{"batches", batches_}}, .tensors = {}, .texts = {}};
}

void BackupAndRestore::set_state(const CallbackState& state) { batches_ = detail::count_in(state, "batches"); }

}  // namespace mezzo
