#include <mezzo/training/trainer/checkpoint_paths.hpp>

#include <charconv>
#include <filesystem>
#include <optional>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/callbacks/model_checkpoint.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>

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

/// Training steps that a checkpoint has; reads its header alone.
std::int64_t steps_of(const std::string& path) {
  const SafetensorsFile file(path);
  const auto found = file.metadata().find(checkpoint_format::step);
  std::int64_t steps = 0;
  if (found != file.metadata().end()) {
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), steps);
  }
  return steps;
}

/// The one of the Trainer's own checkpoints with more steps: their times may be those of a copy. "" if there is none.
std::string last_own_checkpoint(const TrainerOptions& options) {
  const std::string last = own_checkpoint(options, "last.ckpt"), other = own_checkpoint(options, "interrupted.ckpt");
  std::error_code ignored;
  if (!fs::exists(other, ignored)) return last;
  if (!fs::exists(last, ignored)) return other;
  const std::int64_t steps = steps_of(last), others = steps_of(other);
  if (steps != others) return steps > others ? last : other;
  return fs::last_write_time(last, ignored) >= fs::last_write_time(other, ignored) ? last : other;
}

std::string last_checkpoint(const TrainerOptions& options) {
  std::vector<std::string> files{last_own_checkpoint(options)};
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

std::string interrupted_checkpoint(const TrainerOptions& options) {
  const bool saves = options.enable_checkpointing.value_or(true) && options.fast_dev_run == 0;
  return saves ? own_checkpoint(options, "interrupted.ckpt") : std::string();
}

void remove_interrupted(const TrainerOptions& options, const std::string& resumed_from, const History& history,
                        std::int64_t steps) {
  const std::string path = interrupted_checkpoint(options);
  std::error_code error;
  if (path.empty() || history.epoch.empty() || !fs::exists(path, error)) return;
  const auto passed = [&] {
    try {
      return !resumed_from.empty() && (fs::equivalent(resumed_from, path, error) || steps_of(path) <= steps);
    } catch (const FileError&) {  // a file that can't be read is left to the user
      return false;
    }
  };
  if (!options.enable_checkpointing.value_or(false) && !passed()) return;
  fs::remove(path, error);
  if (error) warn(fmt::format("[Trainer] fit: \"{}\" can't be removed: {}", path, error.message()));
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
