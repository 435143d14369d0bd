#include <mezzo/training/trainer/trainer.hpp>

#include <cstdio>
#include <cstdlib>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/combined_loader.hpp>
#include <mezzo/training/callbacks/model_checkpoint.hpp>
#include <mezzo/training/callbacks/model_summary.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/loops/data_call.hpp>
#include <mezzo/training/loops/loops.hpp>
#include <mezzo/training/module/interrupted.hpp>
#include <mezzo/training/module/saved_hyperparameters.hpp>
#include <mezzo/training/step/data_parts.hpp>
#include <mezzo/training/step/training_state.hpp>
#include <mezzo/training/trainer/checkpoint_paths.hpp>
#include <mezzo/training/trainer/group_call.hpp>
#include <mezzo/training/trainer/trainer_checks.hpp>

namespace mezzo {
namespace {

/// With precision "auto" or "auto-int8", the policy that fit has chosen for this module; before fit, the module's own.
detail::RunOptions run_options(const TrainerOptions& options, Module& module) {
  const Policy& policy =
      options.precision.automatic() ? detail::training_state(module).chosen : options.precision.policy();
  return {.policy = policy,
          .int8_inside = options.precision.int8_inside(),
          .eager = options.eager,
          .loss_scale = options.loss_scale,
          .adaptive_threads = options.deterministic ? std::optional<bool>(false) : options.adaptive_threads,
          .float32_winograd = options.float32_winograd,
          .float32_matmul = options.float32_matmul_precision
                                ? std::optional(detail::float32_matmul_of(*options.float32_matmul_precision))
                                : std::nullopt,
          .detect_anomaly = options.detect_anomaly};
}

/// The same for fit.
detail::RunOptions training_options(const TrainerOptions& options, Module& module) {
  detail::RunOptions run = run_options(options, module);
  if (options.accumulate_grad_batches > 1) run.accumulate = options.accumulate_grad_batches;
  run.group = detail::group_of(options);
  run.shard_optimizer_states = options.shard_optimizer_states;
  run.compress_gradients = options.gradient_compression == "bf16";
  run.sync_batchnorm = options.sync_batchnorm;
  if (options.gradient_clip_val) {
    run.clip = detail::GradientClip{*options.gradient_clip_val, options.gradient_clip_algorithm == "value"};
  }
  return run;
}

detail::CallSettings call_options(const TrainerOptions& options, bool bar) {
  if (!detail::group_of(options).writes()) {
    return {.callbacks = options.callbacks, .default_root_dir = options.default_root_dir, .writes = false};
  }
  return {.verbose = bar,
          .callbacks = options.callbacks,
          .loggers = options.logger,
          .profiler = options.profiler,
          .default_root_dir = options.default_root_dir};
}

/// The same for a call with a DataModule.
detail::CallSettings call_options(const TrainerOptions& options, detail::DataCall& data,
                                  std::function<void()> make_loaders) {
  detail::CallSettings out = call_options(options, false);
  out.callbacks.insert(out.callbacks.begin(), data.callback());
  out.make_loaders = std::move(make_loaders);
  return out;
}

/// The same for an evaluation, by all processes together.
detail::RunOptions evaluation_run(const TrainerOptions& options, Module& module) {
  detail::RunOptions run = run_options(options, module);
  run.group = detail::group_of(options);
  return run;
}

/// Loads the weights of a `ckpt_path` for an evaluation.
void load_weights(Module& module, const std::string& ckpt_path, const TrainerOptions& options, const char* verb) {
  const std::string path =
      detail::group_of(options).text_of_writer([&] { return detail::checkpoint_path(ckpt_path, options, verb); });
  if (path.empty()) return;
  module.load_weights(path);
  if (const auto values = detail::saved_module_values(path)) module.on_load_checkpoint(*values);
}

/// A training loader as overfit_batches needs it.
DataLoader in_order_of(const TrainerOptions& options, const DataLoader& train) {
  if (options.overfit_batches.none() || train.empty() || !train.sized()) return train;
  if (const CombinedLoader* const combined = train.combination()) {
    std::vector<CombinedLoader::Entry> loaders = combined->loaders();
    for (auto& entry : loaders) entry.second = in_order_of(options, entry.second);
    return DataLoader(CombinedLoader(std::move(loaders), {.mode = combined->mode()}));
  }
  DataLoaderOptions in_order = train.options();
  in_order.shuffle = false;
  return DataLoader(train.dataset(), in_order);
}

}  // namespace

Trainer::Trainer(TrainerOptions options) : options_(detail::checked(std::move(options))) {}

History Trainer::fit(Module& module, const DataLoader& train, const DataLoaders& validation,
                     const TrainerFitOptions& options) const {
  if (this->options().reload_dataloaders_every_n_epochs > 0) {
    fail<ValueError>("[Trainer]", "reload_dataloaders_every_n_epochs needs a DataModule in fit; got loaders and {}",
                     options_.reload_dataloaders_every_n_epochs);
  }
  return detail::run_in_group(this->options(), [&](const detail::ProcessGroup& group) {
    DataLoader training = train;
    DataLoaders validating = detail::parts_of(validation, group);
    return run_fit(module, training, validating, options, nullptr);
  });
}

History Trainer::fit(Module& module, DataModule& data, const TrainerFitOptions& options) const {
  return detail::run_in_group(this->options(), [&](const detail::ProcessGroup& group) {
    detail::DataCall call(data, "fit", group);
    DataLoader train;
    DataLoaders validation;
    return run_fit(module, train, validation, options, &call);
  });
}

History Trainer::run_fit(Module& module, DataLoader& train, DataLoaders& validation, const TrainerFitOptions& options,
                         detail::DataCall* data) const try {
  const detail::ProcessGroup group = detail::group_of(options_);
  detail::require_supported(options_, group);
  std::optional<detail::Checkpoint> checkpoint;
  const std::string path =
      group.text_of_writer([&] { return detail::checkpoint_path(options.ckpt_path, options_, "fit"); });
  if (!path.empty()) checkpoint.emplace(path);
  const auto load = [&] {
    train = detail::part_of(in_order_of(options_, data->data().train_dataloader()), group);
    validation = detail::parts_of(data->data().val_dataloader(), group);
  };
  detail::FitSettings settings{.call = call_options(options_, options_.enable_progress_bar),
                               .run = training_options(options_, module),
                               .epochs = *options_.max_epochs,
                               .min_epochs = options_.min_epochs,
                               .max_steps = options_.max_steps,
                               .min_steps = options_.min_steps,
                               .max_seconds = options_.max_time ? options_.max_time->seconds() : 0,
                               .train_limit = options_.limit_train_batches,
                               .validation_limit = options_.limit_val_batches,
                               .validation_freq = options_.check_val_every_n_epoch.value_or(1),
                               .val_check_interval = options_.val_check_interval,
                               .checks_across_epochs = !options_.check_val_every_n_epoch,
                               .sanity_steps = options_.num_sanity_val_steps,
                               .log_every_n_steps = options_.log_every_n_steps,
                               .chooses_policy = options_.precision.automatic() && (data != nullptr || !train.empty()),
                               .interruptible = true,
                               .reset = true,
                               .checkpoint = checkpoint ? &*checkpoint : nullptr,
                               .by_samples = options.ckpt_by_samples};
  if (group.writes()) settings.interrupt_checkpoint = detail::interrupted_checkpoint(options_);
  if (options_.enable_model_summary) settings.call.callbacks.emplace_back(ModelSummary());
  if (options_.enable_checkpointing.value_or(false)) {
    settings.call.callbacks.emplace_back(ModelCheckpoint(detail::own_checkpoint(options_, "last.ckpt")));
  }
  if (!options_.overfit_batches.none()) settings.train_limit = settings.validation_limit = options_.overfit_batches;
  if (data == nullptr) {
    train = detail::part_of(in_order_of(options_, train), group);
  } else {
    settings.call.callbacks.insert(settings.call.callbacks.begin(), data->callback());
    settings.call.make_loaders = [&] {
      const auto state = checkpoint ? checkpoint->callback_state(detail::DataCall::state_name) : std::nullopt;
      if (state) data->load(*state);
      load();
    };
    settings.reload = [&, last = std::optional<int>()](int epoch) mutable {
      const int every = options_.reload_dataloaders_every_n_epochs;
      if (!last) last = epoch;
      if (every == 0 || epoch - *last < every) return false;
      last = epoch;
      load();
      return true;
    };
  }
  History history = detail::fit(module, train, validation, settings);
  if (group.writes()) detail::remove_interrupted(options_, path, history, detail::training_state(module).step);
  return history;
} catch (const Interrupted& error) {
  if (error.signal == 0) throw;  // by interrupt_training()
  std::fflush(nullptr);
  // Launchers may kill all processes when the first one ends. The one that writes has saved before.
  try {
    detail::group_of(options_).wait();
  } catch (const Error&) {  // one has failed, which ends all
  }
  std::exit(128 + error.signal);  // NOLINT(concurrency-mt-unsafe): the threads of the fit have ended
}

void Trainer::save_checkpoint(Module& module, const std::string& path, const CheckpointOptions& options) {
  detail::save_checkpoint(module, path, options);
}

Logs Trainer::validate(Module& module, const DataLoaders& loaders, const TrainerEvaluationOptions& options) const {
  return detail::run_in_group(this->options(), [&](const detail::ProcessGroup& group) {
    load_weights(module, options.ckpt_path, options_, "validate");
    return detail::evaluate(module, detail::parts_of(loaders, group), Stage::validate,
                            {.call = call_options(options_, false),
                             .run = evaluation_run(options_, module),
                             .limit = options_.limit_val_batches});
  });
}

Logs Trainer::test(Module& module, const DataLoaders& loaders, const TrainerEvaluationOptions& options) const {
  return detail::run_in_group(this->options(), [&](const detail::ProcessGroup& group) {
    load_weights(module, options.ckpt_path, options_, "test");
    return detail::evaluate(module, detail::parts_of(loaders, group), Stage::test,
                            {.call = call_options(options_, false),
                             .run = evaluation_run(options_, module),
                             .limit = options_.limit_test_batches});
  });
}

Tensor Trainer::predict(Module& module, const DataLoader& loader, const TrainerPredictOptions& options) const {
  const std::vector<Tensor> outputs = predict(module, DataLoaders(loader), options);
  return outputs.empty() ? Tensor() : outputs.front();
}

std::vector<Tensor> Trainer::predict(Module& module, const DataLoaders& loaders,
                                     const TrainerPredictOptions& options) const {
  return detail::run_in_group(this->options(), [&](const detail::ProcessGroup& group) {
    load_weights(module, options.ckpt_path, options_, "predict");
    return detail::predict(module, detail::parts_of(loaders, group),
                           {.call = call_options(options_, false),
                            .run = evaluation_run(options_, module),
                            .limit = options_.limit_predict_batches,
                            .return_predictions = options.return_predictions});
  });
}

Logs Trainer::validate(Module& module, DataModule& data, const TrainerEvaluationOptions& options) const {
  return detail::run_in_group(this->options(), [&](const detail::ProcessGroup& group) {
    load_weights(module, options.ckpt_path, options_, "validate");
    detail::DataCall call(data, "validate", group);
    DataLoaders loaders;
    const auto load = [&] { loaders = detail::parts_of(data.val_dataloader(), group); };
    return detail::evaluate(module, loaders, Stage::validate,
                            {.call = call_options(options_, call, load),
                             .run = evaluation_run(options_, module),
                             .limit = options_.limit_val_batches});
  });
}

Logs Trainer::test(Module& module, DataModule& data, const TrainerEvaluationOptions& options) const {
  return detail::run_in_group(this->options(), [&](const detail::ProcessGroup& group) {
    load_weights(module, options.ckpt_path, options_, "test");
    detail::DataCall call(data, "test", group);
    DataLoaders loaders;
    const auto load = [&] { loaders = detail::parts_of(data.test_dataloader(), group); };
    return detail::evaluate(module, loaders, Stage::test,
                            {.call = call_options(options_, call, load),
                             .run = evaluation_run(options_, module),
                             .limit = options_.limit_test_batches});
  });
}

std::vector<Tensor> Trainer::predict(Module& module, DataModule& data, const TrainerPredictOptions& options) const {
  return detail::run_in_group(this->options(), [&](const detail::ProcessGroup& group) {
    load_weights(module, options.ckpt_path, options_, "predict");
    detail::DataCall call(data, "predict", group);
    DataLoaders loaders;
    const auto load = [&] { loaders = detail::parts_of(data.predict_dataloader(), group); };
    return detail::predict(module, loaders,
                           {.call = call_options(options_, call, load),
                            .run = evaluation_run(options_, module),
                            .limit = options_.limit_predict_batches,
                            .return_predictions = options.return_predictions});
  });
}

}  // namespace mezzo
