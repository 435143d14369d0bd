#include <mezzo/training/trainer/trainer_checks.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/precision/float32_matmul.hpp>
#include <mezzo/training/callbacks/batch_size_finder.hpp>
#include <mezzo/training/callbacks/learning_rate_finder.hpp>
#include <mezzo/training/loggers/csv_logger.hpp>
#include <mezzo/training/loops/progress_bar.hpp>

namespace mezzo::detail {
namespace {

template <class Number>
void require_at_least(Number least, const char* option, Number given) {
  if (given < least) fail<ValueError>("[Trainer]", "{} must be at least {}; got {}", option, least, given);
}

void check_ranges(const TrainerOptions& options) {
  require_at_least(-1, "max_epochs", options.max_epochs.value_or(0));
  require_at_least<std::int64_t>(-1, "max_steps", options.max_steps);
  require_at_least(0, "min_epochs", options.min_epochs);
  require_at_least<std::int64_t>(-1, "min_steps", options.min_steps);
  require_at_least(0, "fast_dev_run", options.fast_dev_run);
  require_at_least(0, "reload_dataloaders_every_n_epochs", options.reload_dataloaders_every_n_epochs);
  require_at_least(1, "check_val_every_n_epoch", options.check_val_every_n_epoch.value_or(1));
  require_at_least(-1, "num_sanity_val_steps", options.num_sanity_val_steps);
  require_at_least(1, "accumulate_grad_batches", options.accumulate_grad_batches);
  require_at_least(1, "log_every_n_steps", options.log_every_n_steps);
  if (options.gradient_clip_val && !(*options.gradient_clip_val > 0 && std::isfinite(*options.gradient_clip_val))) {
    fail<ValueError>("[Trainer]", "gradient_clip_val must be a finite number above 0; got {}",
                     *options.gradient_clip_val);
  }
  const std::string& algorithm = options.gradient_clip_algorithm;
  if (algorithm != "norm" && algorithm != "value") {
    fail_unknown("[Trainer]", "gradient_clip_algorithm", algorithm, {"norm", "value"});
  }
  if (algorithm == "value" && !options.gradient_clip_val) {
    fail<ValueError>("[Trainer]", "gradient_clip_algorithm \"value\" needs gradient_clip_val, the bound; got none");
  }
  if (options.float32_matmul_precision) {
    static_cast<void>(float32_matmul_of(*options.float32_matmul_precision));
  }
  if (!options.gradient_compression.empty() && options.gradient_compression != "bf16") {
    fail_unknown("[Trainer]", "gradient_compression", options.gradient_compression, {"bf16"});
  }
  if (options.loss_scale) check_loss_scale(*options.loss_scale, "[Trainer] loss_scale.");
  for (const Any<Logger>& logger : options.logger) {
    if (!logger) fail<ValueError>("[Trainer]", "logger must have no empty elements; got one");
  }
}

void check_exclusions(const TrainerOptions& options) {
  if (options.deterministic && options.adaptive_threads.value_or(false)) {
    fail<ValueError>("[Trainer]", "deterministic excludes adaptive_threads; got both");
  }
  if (options.max_epochs.value_or(-1) >= 0 && options.min_epochs > *options.max_epochs) {
    fail<ValueError>("[Trainer]", "min_epochs must be at most max_epochs, {}; got {}", *options.max_epochs,
                     options.min_epochs);
  }
  if (!options.check_val_every_n_epoch && options.val_check_interval.is_share()) {
    fail<ValueError>("[Trainer]",
                     "val_check_interval must be a time or a whole number of batches without check_val_every_n_epoch; "
                     "got {}",
                     options.val_check_interval.text());
  }
  if (options.max_steps >= 0 && options.min_steps > options.max_steps) {
    fail<ValueError>("[Trainer]", "min_steps must be at most max_steps, {}; got {}", options.max_steps,
                     options.min_steps);
  }
  const bool saves = std::any_of(options.callbacks.begin(), options.callbacks.end(),
                                 [](const CallbackHandle& callback) { return callback.get().saves(); });
  if (saves && !options.enable_checkpointing.value_or(true)) {
    fail<ValueError>("[Trainer]", "enable_checkpointing = false excludes callbacks that save; got one");
  }
  const bool bar = std::any_of(options.callbacks.begin(), options.callbacks.end(), [](const CallbackHandle& callback) {
    return dynamic_cast<const ProgressBar*>(&callback.get()) != nullptr;
  });
  if (bar && !options.enable_progress_bar) {
    fail<ValueError>("[Trainer]", "enable_progress_bar = false excludes callbacks that are a ProgressBar; got one");
  }
  if (!options.barebones) return;
  const auto exclude = [](const char* option, bool given) {
    if (given) fail<ValueError>("[Trainer]", "barebones excludes {}; got both", option);
  };
  exclude("logger", !options.logger.empty());
  exclude("profiler", static_cast<bool>(options.profiler));
  exclude("fast_dev_run", options.fast_dev_run > 0);
  exclude("detect_anomaly", options.detect_anomaly);
  exclude("enable_checkpointing", options.enable_checkpointing.value_or(false) || saves);
  exclude("enable_model_summary", options.enable_model_summary);
  exclude("a ProgressBar", bar);
}

/// Callbacks that save or search are left out of a smoke test.
void make_trial_run(TrainerOptions& options) {
  const int batches = options.fast_dev_run;
  for (BatchLimit* limit : {&options.limit_train_batches, &options.limit_val_batches, &options.limit_test_batches,
                            &options.limit_predict_batches}) {
    *limit = batches;
  }
  options.max_epochs = 1;
  options.max_steps = batches;
  options.num_sanity_val_steps = 0;
  options.val_check_interval = 1.0;
  options.check_val_every_n_epoch = 1;
  options.logger.clear();
  options.enable_checkpointing.reset();
  const auto left_out = [](const CallbackHandle& handle) {
    const Callback& callback = handle.get();
    return callback.saves() || dynamic_cast<const BatchSizeFinder*>(&callback) != nullptr ||
           dynamic_cast<const LearningRateFinder*>(&callback) != nullptr;
  };
  options.callbacks.erase(std::remove_if(options.callbacks.begin(), options.callbacks.end(), left_out),
                          options.callbacks.end());
}

}  // namespace

TrainerOptions checked(TrainerOptions options) {
  check_trainer_environment();
  if (options.logger.standard()) {
    options.logger = loggers::CSVLogger(options.default_root_dir.empty() ? "." : options.default_root_dir);
  }
  check_path(options.default_root_dir, "[Trainer] default_root_dir:");
  check_ranges(options);
  check_exclusions(options);
  if (options.fast_dev_run > 0) make_trial_run(options);
  if (options.barebones) {
    options.enable_progress_bar = false;
    options.enable_checkpointing = false;
    options.num_sanity_val_steps = 0;
  }
  const bool limited = options.max_steps >= 0 || options.max_time;
  if (!options.max_epochs) options.max_epochs = limited ? -1 : 1000;
  return options;
}

}  // namespace mezzo::detail
