#include <mezzo/training/trainer/shared_options.hpp>

#include <mezzo/core/version.hpp>

namespace mezzo::detail {
namespace {

std::string quoted(const std::string& text) { return fmt::format("\"{}\"", text); }

template <class T>
std::string given(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "not given";
}

std::string text_of(const std::optional<Duration>& time) {
  return time ? fmt::format("{} s", time->seconds()) : "not given";
}

std::string text_of(const std::optional<LossScaleOptions>& scale) {
  if (!scale) return "not given";
  return fmt::format(
      "(dynamic {}, initial_scale {}, growth_factor {}, backoff_factor {}, growth_interval {}, floor {}, cap {})",
      scale->dynamic, scale->initial_scale, scale->growth_factor, scale->backoff_factor, scale->growth_interval,
      scale->floor, scale->cap);
}

}  // namespace

// First come the options that change others. tests/structure/check_options.py finds options that are missing here.
void compare_options(const ProcessGroup& group, const TrainerOptions& options) {
  if (!group.shared()) return;
  group.require_equal({shared_fact("mezzo", version()),
                       shared_fact("fast_dev_run", options.fast_dev_run),
                       shared_fact("barebones", options.barebones),
                       shared_fact("max_epochs", given(options.max_epochs)),
                       shared_fact("max_steps", options.max_steps),
                       shared_fact("max_time", text_of(options.max_time)),
                       shared_fact("min_epochs", options.min_epochs),
                       shared_fact("min_steps", options.min_steps),
                       shared_fact("limit_train_batches", options.limit_train_batches.text()),
                       shared_fact("limit_val_batches", options.limit_val_batches.text()),
                       shared_fact("limit_test_batches", options.limit_test_batches.text()),
                       shared_fact("limit_predict_batches", options.limit_predict_batches.text()),
                       shared_fact("overfit_batches", options.overfit_batches.text()),
                       shared_fact("reload_dataloaders_every_n_epochs", options.reload_dataloaders_every_n_epochs),
                       shared_fact("val_check_interval", options.val_check_interval.text()),
                       shared_fact("check_val_every_n_epoch", options.check_val_every_n_epoch.value_or(0)),
                       shared_fact("num_sanity_val_steps", options.num_sanity_val_steps),
                       shared_fact("accumulate_grad_batches", options.accumulate_grad_batches),
                       shared_fact("gradient_clip_val", given(options.gradient_clip_val)),
                       shared_fact("gradient_clip_algorithm", quoted(options.gradient_clip_algorithm)),
                       shared_fact("shard_optimizer_states", options.shard_optimizer_states),
                       shared_fact("gradient_compression", quoted(options.gradient_compression)),
                       shared_fact("sync_batchnorm", options.sync_batchnorm),
                       shared_fact("precision", quoted(options.precision.policy().name())),
                       shared_fact("log_every_n_steps", options.log_every_n_steps),
                       shared_fact("deterministic", options.deterministic),
                       shared_fact("detect_anomaly", options.detect_anomaly),
                       shared_fact("loss_scale", text_of(options.loss_scale)),
                       shared_fact("adaptive_threads", given(options.adaptive_threads)),
                       shared_fact("float32_winograd", given(options.float32_winograd)),
                       shared_fact("float32_matmul_precision", given(options.float32_matmul_precision))});
}

}  // namespace mezzo::detail
