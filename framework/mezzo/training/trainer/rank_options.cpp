#include <mezzo/training/trainer/rank_options.hpp>

#include <mezzo/core/version.hpp>
#include <mezzo/training/ranks/compare_ranks.hpp>

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
void compare_options(Communicator& ranks, const TrainerOptions& options) {
  compare_ranks(ranks, {rank_fact("mezzo", version()),
                        rank_fact("fast_dev_run", options.fast_dev_run),
                        rank_fact("barebones", options.barebones),
                        rank_fact("max_epochs", given(options.max_epochs)),
                        rank_fact("max_steps", options.max_steps),
                        rank_fact("max_time", text_of(options.max_time)),
                        rank_fact("min_epochs", options.min_epochs),
                        rank_fact("min_steps", options.min_steps),
                        rank_fact("limit_train_batches", options.limit_train_batches.text()),
                        rank_fact("limit_val_batches", options.limit_val_batches.text()),
                        rank_fact("limit_test_batches", options.limit_test_batches.text()),
                        rank_fact("limit_predict_batches", options.limit_predict_batches.text()),
                        rank_fact("overfit_batches", options.overfit_batches.text()),
                        rank_fact("reload_dataloaders_every_n_epochs", options.reload_dataloaders_every_n_epochs),
                        rank_fact("val_check_interval", options.val_check_interval.text()),
                        rank_fact("check_val_every_n_epoch", options.check_val_every_n_epoch),
                        rank_fact("num_sanity_val_steps", options.num_sanity_val_steps),
                        rank_fact("accumulate_grad_batches", options.accumulate_grad_batches),
                        rank_fact("gradient_clip_val", given(options.gradient_clip_val)),
                        rank_fact("gradient_clip_algorithm", quoted(options.gradient_clip_algorithm)),
                        rank_fact("shard_optimizer_states", options.shard_optimizer_states),
                        rank_fact("gradient_compression", quoted(options.gradient_compression)),
                        rank_fact("sync_batchnorm", options.sync_batchnorm),
                        rank_fact("precision", quoted(options.precision.policy().name())),
                        rank_fact("log_every_n_steps", options.log_every_n_steps),
                        rank_fact("deterministic", options.deterministic),
                        rank_fact("detect_anomaly", options.detect_anomaly),
                        rank_fact("loss_scale", text_of(options.loss_scale)),
                        rank_fact("adaptive_threads", given(options.adaptive_threads)),
                        rank_fact("float32_winograd", given(options.float32_winograd))});
}

}  // namespace mezzo::detail
