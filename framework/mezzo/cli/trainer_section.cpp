#include <mezzo/cli/trainer_section.hpp>

#include <cstdlib>

#include <mezzo/cli/nearest.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/training/loggers/csv_logger.hpp>
#include <mezzo/training/loggers/json_logger.hpp>
#include <mezzo/training/loggers/tensor_board_logger.hpp>

namespace mezzo::cli {
namespace {

constexpr const char* logs = "logs";  // folder in run_dir

Any<Logger> logger_of(const std::string& name, const std::string& run_dir) {
  if (name == "csv") return loggers::CSVLogger(run_dir, {.name = "", .version = logs});
  if (name == "json") return loggers::JSONLogger(run_dir, {.name = "", .version = logs});
  if (name == "tensorboard") return loggers::TensorBoardLogger(run_dir, {.name = "", .version = logs});
  fail_unknown_name("trainer.logger", "logger", name, {"csv", "json", "tensorboard"});
}

/// Throws for variables whose options a training of the command sets itself.
void refuse_variables() {
  if (std::getenv("MEZZO_TRAINER_LOGGER") != nullptr) {
    fail_usage("MEZZO_TRAINER_LOGGER has no effect here; set trainer.logger");
  }
  if (std::getenv("MEZZO_TRAINER_DEFAULT_ROOT_DIR") != nullptr) {
    fail_usage("MEZZO_TRAINER_DEFAULT_ROOT_DIR has no effect here; set --run_dir");
  }
}

}  // namespace

TrainerOptions read_trainer(Json& json, const std::string& run_dir) {
  refuse_variables();
  TrainerOptions options{};
  Section section(json, "trainer");
  section("max_epochs", options.max_epochs);
  section("max_steps", options.max_steps);
  section("max_time", options.max_time);
  section("min_epochs", options.min_epochs);
  section("min_steps", options.min_steps);
  section("limit_train_batches", options.limit_train_batches);
  section("limit_val_batches", options.limit_val_batches);
  section("limit_test_batches", options.limit_test_batches);
  section("overfit_batches", options.overfit_batches);
  section("fast_dev_run", options.fast_dev_run);
  section("val_check_interval", options.val_check_interval);
  section("check_val_every_n_epoch", options.check_val_every_n_epoch);
  section("num_sanity_val_steps", options.num_sanity_val_steps);
  section("accumulate_grad_batches", options.accumulate_grad_batches);
  section("gradient_clip_val", options.gradient_clip_val);
  section("gradient_clip_algorithm", options.gradient_clip_algorithm);
  section("precision", options.precision);
  std::vector<std::string> names{"csv", "tensorboard"};
  section("logger", names);
  section("log_every_n_steps", options.log_every_n_steps);
  if (!options.enable_checkpointing) options.enable_checkpointing = true;
  section("enable_checkpointing", options.enable_checkpointing);
  section("enable_progress_bar", options.enable_progress_bar);
  section("enable_model_summary", options.enable_model_summary);
  section("deterministic", options.deterministic);
  section("detect_anomaly", options.detect_anomaly);
  section("eager", options.eager);
  section("adaptive_threads", options.adaptive_threads);
  section("float32_winograd", options.float32_winograd);
  section("float32_matmul_precision", options.float32_matmul_precision);
  section.finish();
  options.logger = {};
  for (const std::string& name : names) options.logger.push_back(logger_of(name, run_dir));
  options.default_root_dir = run_dir;
  return options;
}

}  // namespace mezzo::cli
