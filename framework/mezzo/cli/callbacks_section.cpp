#include <functional>
#include <map>

#include <mezzo/cli/nearest.hpp>
#include <mezzo/cli/trainer_section.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/training/callbacks/early_stopping.hpp>
#include <mezzo/training/callbacks/learning_rate_monitor.hpp>
#include <mezzo/training/callbacks/model_checkpoint.hpp>
#include <mezzo/training/callbacks/reduce_lr_on_plateau.hpp>
#include <mezzo/training/callbacks/terminate_on_nan.hpp>

namespace mezzo::cli {
namespace {

detail::CallbackHandle early_stopping(Section& section, const std::string&) {
  EarlyStoppingOptions options;
  section("monitor", options.monitor);
  section("min_delta", options.min_delta);
  section("patience", options.patience);
  section("verbose", options.verbose);
  section("mode", options.mode);
  section("baseline", options.baseline);
  section("restore_best_weights", options.restore_best_weights);
  section("start_from_epoch", options.start_from_epoch);
  section("strict", options.strict);
  section("check_finite", options.check_finite);
  section("stopping_threshold", options.stopping_threshold);
  section("divergence_threshold", options.divergence_threshold);
  section("check_on_train_epoch_end", options.check_on_train_epoch_end);
  section.finish();
  return EarlyStopping(options);
}

detail::CallbackHandle learning_rate_monitor(Section& section, const std::string&) {
  LearningRateMonitorOptions options;
  section("logging_interval", options.logging_interval);
  section("log_momentum", options.log_momentum);
  section("log_weight_decay", options.log_weight_decay);
  section("log_key_prefix", options.log_key_prefix);
  section.finish();
  return LearningRateMonitor(options);
}

/// Lightning's form; the files are in the run folder.
detail::CallbackHandle model_checkpoint(Section& section, const std::string& run_dir) {
  TopKCheckpointOptions options;
  bool save_last = false;
  section("filename", options.filename);
  section("monitor", options.monitor);
  section("verbose", options.verbose);
  section("save_last", save_last);
  section("save_top_k", options.save_top_k);
  section("save_on_exception", options.save_on_exception);
  section("save_weights_only", options.save_weights_only);
  section("mode", options.mode);
  section("auto_insert_metric_name", options.auto_insert_metric_name);
  section("every_n_train_steps", options.every_n_train_steps);
  section("train_time_interval", options.train_time_interval);
  section("every_n_epochs", options.every_n_epochs);
  section("save_on_train_epoch_end", options.save_on_train_epoch_end);
  section("enable_version_counter", options.enable_version_counter);
  section.finish();
  options.save_last = save_last;
  options.dirpath = run_dir + "/checkpoints";
  return ModelCheckpoint(options);
}

detail::CallbackHandle reduce_lr_on_plateau(Section& section, const std::string&) {
  ReduceLROnPlateauOptions options;
  section("monitor", options.monitor);
  section("factor", options.factor);
  section("patience", options.patience);
  section("verbose", options.verbose);
  section("mode", options.mode);
  section("min_delta", options.min_delta);
  section("cooldown", options.cooldown);
  section("min_lr", options.min_lr);
  section.finish();
  return ReduceLROnPlateau(options);
}

detail::CallbackHandle terminate_on_nan(Section& section, const std::string&) {
  TerminateOnNaNOptions options;
  section("raise_error", options.raise_error);
  section.finish();
  return TerminateOnNaN(options);
}

using Make = detail::CallbackHandle (*)(Section&, const std::string& run_dir);

const std::map<std::string, Make>& makers() {
  static const std::map<std::string, Make> all{{"EarlyStopping", early_stopping},
                                               {"LearningRateMonitor", learning_rate_monitor},
                                               {"ModelCheckpoint", model_checkpoint},
                                               {"ReduceLROnPlateau", reduce_lr_on_plateau},
                                               {"TerminateOnNaN", terminate_on_nan}};
  return all;
}

}  // namespace

Callbacks read_callbacks(Json& json, const std::string& run_dir) {
  if (json.is_null()) json = Json::array();
  if (!json.is_array()) fail_usage("callbacks must be a list; got {}", json.dump());
  Callbacks callbacks;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string where = fmt::format("callbacks.{}", i);
    if (json[i].is_string()) json[i] = Json{{"class_name", json[i]}};
    Section section(json[i], where);
    std::string name;
    section("class_name", name);
    Json& config = section.raw("config");
    const auto found = makers().find(name);
    if (found == makers().end()) {
      std::vector<std::string> names;
      for (const auto& entry : makers()) names.push_back(entry.first);
      fail_unknown_name(where, "callback", name, names);
    }
    Section options(config, where + ".config");
    callbacks.push_back(found->second(options, run_dir));
    section.finish();
  }
  return callbacks;
}

}  // namespace mezzo::cli
