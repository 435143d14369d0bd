#include <mezzo/training/trainer/checkpoint_paths.hpp>

#include <filesystem>
#include <optional>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/callbacks/model_checkpoint.hpp>

namespace mezzo::detail {
namespace {

namespace fs = std::filesystem;

std::vector<const ModelCheckpoint*> model_checkpoints(const TrainerOptions& options) {
  std::vector<const ModelCheckpoint*> out;
  for (const CallbackHandle& handle : options.callbacks) {
    if (const auto* callback = dynamic_cast<const ModelCheckpoint*>(&handle.get())) out.push_back(callback);
  }
  return out;
}

std::string last_checkpoint(const TrainerOptions& options) {
  std::vector<std::string> files{own_checkpoint(options, "last.ckpt"), own_checkpoint(options, "interrupted.ckpt")};
  for (const ModelCheckpoint* callback : model_checkpoints(options)) {
    for (std::string& file : callback->last_checkpoints(options.default_root_dir)) files.push_back(std::move(file));
  }
  std::string newest;
  fs::file_time_type time;
  for (const std::string& file : files) {
    std::error_code error;
    const fs::file_time_type changed = fs::last_write_time(file, error);
    if (error || (!newest.empty() && changed <= time)) continue;
    newest = file;
    time = changed;
  }
  return newest;
}

}  // namespace

std::string own_checkpoint(const TrainerOptions& options, const char* file) {
  return (fs::path(options.default_root_dir) / "checkpoints" / file).string();
}

std::string checkpoint_path(const std::string& ckpt_path, const TrainerOptions& options, const std::string& verb) {
  if (ckpt_path == "last") {
    const std::string file = last_checkpoint(options);
    if (!file.empty()) return file;
    const std::string missing = "no checkpoint of save_last, of enable_checkpointing or of an interruption exists";
    if (verb != "fit") fail<ValueError>("[Trainer]", "{}: ckpt_path \"last\" needs a file; {}", verb, missing);
    warn(fmt::format("[Trainer] fit: ckpt_path is \"last\", but {}: a new training starts", missing));
    return {};
  }
  if (ckpt_path != "best") return ckpt_path;
  const std::vector<const ModelCheckpoint*> callbacks = model_checkpoints(options);
  if (callbacks.empty()) {
    fail<ValueError>("[Trainer]",
                     "{}: ckpt_path \"best\" needs a ModelCheckpoint among the Trainer's callbacks; got none", verb);
  }
  const std::string file = callbacks.front()->best_checkpoint();
  if (file.empty()) {
    fail<ValueError>("[Trainer]",
                     "{}: ckpt_path \"best\" needs a file that ModelCheckpoint has saved as the best; got none", verb);
  }
  return file;
}

}  // namespace mezzo::detail
