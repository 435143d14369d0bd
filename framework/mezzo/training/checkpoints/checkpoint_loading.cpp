#include <mezzo/training/checkpoints/checkpoint.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/nn/file_formats.hpp>
#include <mezzo/training/checkpoints/checkpoint_migrations.hpp>
#include <mezzo/training/checkpoints/checkpoint_reader.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo::detail {
namespace {

namespace names = checkpoint_format;

// Limits of counters: no training reaches them, and further counting can't overflow.
constexpr std::int64_t largest_count = LossScale::largest_count;
constexpr std::int64_t largest_epoch = std::int64_t{1} << 30;  // an int

bool contains(const std::vector<std::shared_ptr<VariableState>>& all, const Variable& one) {
  return std::any_of(all.begin(), all.end(), [&](const auto& variable) { return variable.get() == one.id(); });
}

/// Keys of the iterations of all optimizers in a checkpoint.
std::set<std::string> iteration_keys(const Metadata& metadata) {
  std::set<std::string> out;
  const std::string first = names::optimizer_key("", ""), last = fmt::format(".{}", names::iterations);
  for (const auto& entry : metadata) {
    const std::string& key = entry.first;
    const bool ends = key.size() >= last.size() && key.compare(key.size() - last.size(), last.size(), last) == 0;
    if (key.compare(0, first.size(), first) == 0 && ends) out.insert(key);
  }
  return out;
}

void note_optimizers(const Metadata& metadata, const OptimizerConfigs& configs, Findings& faults) {
  std::set<std::string> unexpected = iteration_keys(metadata);
  for (const OptimizerConfig& config : configs) {
    const std::string key = names::optimizer_key(config.name, names::iterations);
    if (unexpected.erase(key) == 0) faults.add(fmt::format("missing optimizer \"{}\"", config.name));
  }
  const std::string first = names::optimizer_key("", ""), last = names::iterations;
  for (const std::string& key : unexpected) {
    std::string name = key.substr(first.size(), key.size() - first.size() - last.size());
    if (!name.empty()) name.pop_back();  // the dot
    faults.add(fmt::format("unexpected optimizer \"{}\"", name));
  }
}

/// Continues a dynamic scale within the limits of the options. A fixed scale is that of the options.
void restore_loss_scale(LossScale& scale, LossScaleState from) {
  const LossScaleOptions& options = scale.options();
  from.scale = options.dynamic ? std::clamp(from.scale, options.floor, options.cap) : options.initial_scale;
  scale.set_state(from);
}

}  // namespace

std::string reader_of_format(const std::string& format) {
  if (format == file_formats::checkpoint) {
    return " (a checkpoint of a training: load_weights reads its weights, Trainer::fit with ckpt_path continues it)";
  }
  if (format == file_formats::model) {
    return " (a model: load_model reads it with its training, load_weights its weights)";
  }
  return format == file_formats::loop ? " (a checkpoint of a loop: LoopCheckpoint::load reads it)" : "";
}

Checkpoint::Checkpoint(const std::string& path) : file_(path), metadata_(file_.metadata()) {
  if (text(names::format) != file_formats::checkpoint) {
    refuse(fmt::format(": format must be \"{}\", as save_checkpoint writes; got \"{}\"{}", file_formats::checkpoint,
                       text(names::format), reader_of_format(text(names::format))));
  }
  try {
    metadata_ = migrated(metadata_);
  } catch (const ValueError& error) {
    refuse(fmt::format(": {}", error.what()));
  }
  if (file_.checksums() != SafetensorsFile::Checksums::all) {
    refuse(": metadata must have the checksums that save_checkpoint writes; got none, or none of the header");
  }
  read_counters();
}

Checkpoint::Checkpoint(SafetensorsFile file) : file_(std::move(file)), metadata_(file_.metadata()) { read_counters(); }

void Checkpoint::read_counters() {
  seed_ = number<std::uint64_t>(names::seed);
  progress_.step = count(names::step, largest_count);
  if (!text(names::seconds).empty()) progress_.seconds = number<double>(names::seconds);
  progress_.updates = count_or(names::updates, largest_count, progress_.step);
  progress_.epoch = count(names::epoch, largest_epoch);
  progress_.batch = count(names::batch, largest_count);
  progress_.pass = count_or(names::pass, largest_count, progress_.epoch);
  progress_.position = count_or(names::position, largest_count, progress_.batch);
  progress_.samples = count_or(names::samples, largest_count, 0);
  progress_.fit_epoch = static_cast<int>(count_or(names::fit_epoch, largest_epoch, progress_.epoch));
  try {
    if (const std::string json = text(names::epoch_numbers); !json.empty()) epoch_numbers_ = epoch_numbers_from(json);
    if (const std::string json = text(names::hyperparameters); !json.empty()) {
      hyperparameters_ = hyperparameters_from(json);
    }
    if (const std::string json = text(names::evaluated_batches); !json.empty()) evaluated_batches_ = counts_from(json);
    if (const std::string json = text(names::data); !json.empty()) data_ = fingerprint_from(json);
    if (const std::string json = text(names::callbacks); !json.empty()) callbacks_ = callback_numbers_from(json);
    if (const std::string json = text(names::callback_texts); !json.empty()) {
      callback_texts_ = callback_texts_from(json);
    }
  } catch (const ValueError& error) {
    refuse(fmt::format(": {}", error.what()));
  }
  if (data_ && progress_.position > 0 && progress_.samples == 0) {
    refuse(fmt::format(": metadata must have \"{}\" in the middle of a pass; got none", names::samples));
  }
}

std::string Checkpoint::text(const std::string& key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? std::string() : found->second;
}

std::int64_t Checkpoint::count_or(const std::string& key, std::int64_t most, std::int64_t otherwise) const {
  return metadata_.count(key) == 0 ? otherwise : count(key, most);
}

void Checkpoint::refuse(const std::string& text) const {
  throw FileError(fmt::format("[Trainer] checkpoint \"{}\"{}", file_.path(), text));
}

template <class Number>
Number Checkpoint::number(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) refuse(fmt::format(": metadata must have \"{}\"; got none", key));
  const std::string& text = found->second;
  Number out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && out >= 0 && std::isfinite(static_cast<double>(out))) return out;
  refuse(fmt::format(": metadata \"{}\" must be a number, 0 or more; got \"{}\"", key, text));
}

std::int64_t Checkpoint::count(const std::string& key, std::int64_t most) const {
  const auto out = number<std::int64_t>(key);
  if (out > most) refuse(fmt::format(": metadata \"{}\" must be at most {}; got {}", key, most, out));
  return out;
}

std::int64_t Checkpoint::accumulated_steps(const std::string& key, const Optimizer& optimizer) const {
  const std::int64_t steps = optimizer.accumulation_steps(), done = count(key, largest_count);
  if (done < steps) return done;
  refuse(fmt::format(": metadata \"{}\" must be less than the steps of an accumulated update, {}; got {}", key, steps,
                     done));
}

std::optional<LossScaleState> Checkpoint::loss_scale(const std::string& optimizer) const {
  const auto key = [&](const char* what) { return names::optimizer_key(optimizer, what); };
  if (metadata_.count(key(names::loss_scale)) == 0) return {};
  const LossScaleState state{number<double>(key(names::loss_scale)), count(key(names::finite_steps), largest_count),
                             count(key(names::skipped), largest_count)};
  try {
    LossScale({.dynamic = false}).set_state(state);
  } catch (const ValueError& error) {
    refuse(fmt::format(": {}", error.what()));
  }
  return state;
}

Checkpoint::Loaded Checkpoint::load(const Module& module, OptimizerConfigs configs, const Updated& updated) const {
  Loaded loaded;
  CheckpointReader reader(file_);
  note_optimizers(metadata_, configs, reader.faults);
  if (reader.faults.any()) refuse(" does not fit: " + reader.faults.text());

  for (const OptimizerConfig& config : configs) {
    loaded.iterations.push_back(count(names::optimizer_key(config.name, names::iterations), largest_count));
    loaded.scales.push_back(loss_scale(config.name));
    const auto optional_key = [&](const char* what) {
      const std::string key = names::optimizer_key(config.name, what);
      return metadata_.count(key) == 0 ? std::string() : key;
    };
    const std::string steps = optional_key(names::accumulated), rate = optional_key(names::learning_rate);
    loaded.accumulated.push_back(steps.empty() ? 0 : accumulated_steps(steps, *config.optimizer));
    loaded.rates.push_back(rate.empty() ? std::optional<double>() : number<double>(rate));
    try {
      const std::string key = optional_key(names::scheduler);
      loaded.schedulers.push_back(key.empty() ? SchedulerState() : scheduler_state_from(text(key)));
    } catch (const ValueError& error) {
      refuse(fmt::format(": {}", error.what()));
    }
    const std::size_t active = loaded.schedulers.back().active, most = config.lr_scheduler.size();
    if (active > 0 && active >= most) {
      refuse(fmt::format(" was saved under scheduler {} of optimizer \"{}\": lr_scheduler must have more; got {}",
                         active + 1, config.name, most));
    }
  }
  for (const FileWeight& weight : file_weights(*module.state()).weights) {
    SavedWeight& saved = loaded.weights.emplace_back(reader.read(weight));
    for (std::size_t i = 0; i < configs.size(); ++i) {
      saved.states.push_back(
          reader.read(weight, configs[i], updated(i, weight), loaded.iterations[i], loaded.accumulated[i]));
    }
  }
  reader.note_unexpected();
  if (reader.faults.any()) refuse(" does not fit: " + reader.faults.text());
  loaded.configs = std::move(configs);
  return loaded;
}

void Checkpoint::commit(StepRunner& runner, Loaded& loaded) const {
  const OptimizerConfigs& configs = loaded.configs;
  runner.use(configs, true);
  runner.convert_weights();
  for (SavedWeight& weight : loaded.weights) weight.restore(configs);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    Optimizer::State& state = *configs[i].optimizer->state();
    state.iterations = loaded.iterations[i];
    state.accumulated = loaded.accumulated[i];
    state.learning_rate = loaded.rates[i] ? std::optional<LearningRate>(*loaded.rates[i]) : std::nullopt;
    if (loaded.scales[i]) restore_loss_scale(state.loss_scale, *loaded.scales[i]);
  }
  runner.state().schedulers = loaded.schedulers;
  static_cast<Progress&>(runner.state()) = progress_;
  if (seed_ != seed()) seed_everything(seed_);
  if (const auto values = callback_state(names::module)) runner.module().on_load_checkpoint(*values);
}

void Checkpoint::restore(StepRunner& runner) const {
  const OptimizerConfigs configs = runner.make_optimizers();
  Loaded loaded = load(runner.module(), configs, updated_in_file(configs));
  commit(runner, loaded);
}

Checkpoint::Updated Checkpoint::updated_in_file(const OptimizerConfigs& configs) const {
  return [this, configs](std::size_t i, const FileWeight& weight) {
    for (const std::string& slot : configs[i].optimizer->all_slot_names()) {
      if (file_.find(names::slot_key(configs[i].name, slot, weight.name())) != nullptr) return true;
    }
    return false;
  };
}

void Checkpoint::resume(StepRunner& runner, const HostBatch& batch, const TrainingData& data) const {
  const OptimizerConfigs configs = runner.make_optimizers();
  const auto traced = runner.updated_by(configs, batch);
  const bool left_out = std::all_of(traced.begin(), traced.end(), [](const auto& one) { return one.empty(); });
  const auto by_file = updated_in_file(configs);  // if the step leaves batches of this shape out
  const auto updated = [&](std::size_t i, const FileWeight& weight) {
    return left_out ? by_file(i, weight) : contains(traced[i], weight.variable);
  };
  Loaded loaded = load(runner.module(), configs, updated);
  const Progress progress = progress_in(data);
  commit(runner, loaded);
  static_cast<Progress&>(runner.state()) = progress;
  FitRecord& record = runner.state();
  record.epoch_means = Means(epoch_numbers_.means);
  record.skipped_before = epoch_numbers_.skipped_before;
  record.validated = epoch_numbers_.validated;
  record.evaluated_batches = evaluated_batches_;
  // Used only to check if it equals `batch`, which is another number for batches of another size.
  record.validated_at = epoch_numbers_.validated_at == progress_.batch ? progress.batch : epoch_numbers_.validated_at;
  record.resumed_metrics.clear();
  for (const Means::Entry& entry : epoch_numbers_.means) {
    for (std::size_t i = 0; file_.find(names::metric_key(entry.name, i)) != nullptr; ++i) {
      record.resumed_metrics[entry.name].push_back(file_.read(names::metric_key(entry.name, i)));
    }
  }
}

std::optional<CallbackState> Checkpoint::callback_state(const std::string& name) const {
  const auto numbers = callbacks_.find(name);
  if (numbers == callbacks_.end()) return {};
  CallbackState state{.numbers = numbers->second, .tensors = {}, .texts = {}};
  const auto texts = callback_texts_.find(name);
  if (texts != callback_texts_.end()) state.texts = texts->second;
  const std::string prefix = names::callback_key(name, "");
  for (const SafetensorsFile::Entry& entry : file_.entries()) {
    if (entry.name.rfind(prefix, 0) == 0) state.tensors[entry.name.substr(prefix.size())] = file_.read(entry.name);
  }
  return state;
}

Progress Checkpoint::progress_in(const TrainingData& data) const {
  const DataLoader& loader = data.loader;
  Progress progress = progress_;
  const std::int64_t batch_size = loader.options().batch_size;
  if (!data_) {  // a file of version 1, which counts only batches
    progress.samples = progress.position * batch_size;
    return progress;
  }
  const LoaderFingerprint now = loader.fingerprint();
  if (const std::string all = now.differences(*data_); !all.empty()) {
    const bool by_samples = data.whole_passes && now.differences(*data_, true).empty();
    if (!by_samples || !data.by_samples) {
      fail<ValueError>("[Trainer]", "fit: the training data must be those of the checkpoint \"{}\"; got {}{}",
                       file_.path(), all, by_samples ? "; ckpt_by_samples allows that" : "");
    }
  }
  if (batch_size == data_->batch_size || progress.batch == 0) return progress;
  if (progress.samples > 0) {
    progress.position = progress.batch = progress.samples / batch_size;
  } else {
    progress.batch = data.epoch;  // the epoch is complete
  }
  return progress;
}

void Checkpoint::check_end(const Progress& progress, const TrainingData& data) const {
  // After the last batch of an epoch, its validation and hooks still have to run, and they need its numbers.
  const bool whole = progress.batch == data.epoch && !epoch_numbers_.means.empty();
  if (progress.batch >= data.epoch && !whole) {
    refuse(fmt::format(" was saved after batch {} of an epoch: epochs must have more batches; got {}", progress.batch,
                       data.epoch));
  }
  if (data.loader.sized() && progress.position >= data.loader.size()) {
    refuse(fmt::format(" was saved after batch {} of a pass over the data: the loader must have more batches; got {}",
                       progress.position, data.loader.size()));
  }
}

std::optional<Policy> Checkpoint::chosen() const {
  const std::string name = text(names::precision);
  if (name.empty()) return {};
  try {
    return Policy(name);
  } catch (const Error& error) {
    refuse(fmt::format(": {}", error.what()));
  }
}

void Checkpoint::warn_of_threads() const {
  const std::int64_t before = count_or(names::threads, largest_count, 0);
  if (before == 0 || before == thread_count()) return;
  warn(
      fmt::format("[Trainer] checkpoint \"{}\" was saved with {} threads, now there are {}: sums may differ in their "
                  "last digits from those of a training without interruption",
                  file_.path(), before, thread_count()));
}

LoaderPosition Checkpoint::position(const TrainingData& data) const {
  const Progress progress = progress_in(data);
  check_end(progress, data);
  return {.epoch = progress.pass, .samples = progress.samples, .batches = progress.position};
}

void Checkpoint::prepare_callbacks(const NamedCallbacks& callbacks) const {
  for (const auto& [name, callback] : callbacks) {
    if (const auto state = callback_state(name)) callback->on_resume(*state);
  }
}

void Checkpoint::restore_callbacks(const NamedCallbacks& callbacks) const {
  for (const auto& [name, callback] : callbacks) {
    if (const auto state = callback_state(name)) callback->set_state(*state);
  }
}

}  // namespace mezzo::detail
