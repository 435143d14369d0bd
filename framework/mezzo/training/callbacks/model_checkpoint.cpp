#include <mezzo/training/callbacks/model_checkpoint.hpp>

#include <filesystem>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/training/callbacks/top_k_checkpoints.hpp>
#include <mezzo/training/loops/texts.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {
namespace {

const char* const checkpoint_label = "[ModelCheckpoint]";

}  // namespace

/// True if a save writes a whole model to that path.
static bool has_whole_model(const std::string& path) {
  return detail::has_suffix(path, ".mezzo") || detail::has_suffix(path, ".keras");
}

ModelCheckpoint::ModelCheckpoint(int, std::string filepath, ModelCheckpointOptions options)
    : filepath_(std::move(filepath)),
      options_(std::move(options)),
      monitor_("ModelCheckpoint", options_.monitor, options_.mode),
      best_(options_.initial_value_threshold) {
  if (filepath_.empty()) fail<ValueError>(checkpoint_label, "filepath must not be empty");
  detail::check_path(filepath_, checkpoint_label);
  const bool whole_model = has_whole_model(filepath_);
  if (whole_model && options_.save_weights_only) {
    fail<ValueError>(checkpoint_label,
                     "filepath must end in .safetensors or the like with save_weights_only: a .mezzo or .keras file is "
                     "a whole model; got \"{}\"",
                     filepath_);
  }
  const bool weights_of_keras = options_.save_weights_only && detail::has_suffix(filepath_, ".weights.h5");
  if (!whole_model && !weights_of_keras && detail::has_other_suffix(filepath_, detail::FileKind::safetensors)) {
    fail<ValueError>(
        checkpoint_label,
        "filepath must end in .mezzo or .keras (a whole model), or in .safetensors, {} or the like (a {}); got \"{}\"",
        options_.save_weights_only ? ".weights.h5" : ".ckpt", options_.save_weights_only ? "weight file" : "checkpoint",
        filepath_);
  }
}

bool detail::SaveLast::named(const std::string& name) {
  if (name != "link") fail_unknown(checkpoint_label, "save_last", name, {"link"});
  return true;
}

ModelCheckpoint::ModelCheckpoint(TopKCheckpointOptions options)
    : options_{.monitor = options.monitor, .mode = options.mode},
      monitor_("ModelCheckpoint", options.monitor, options.mode),
      top_k_(std::make_shared<detail::TopKCheckpoints>(std::move(options))) {}

std::optional<double> ModelCheckpoint::best() const { return top_k_ ? top_k_->best_model_score() : best_; }

const std::string& ModelCheckpoint::last_path() const { return top_k_ ? top_k_->last_saved() : last_path_; }

std::string ModelCheckpoint::best_model_path() const { return top_k_ ? top_k_->best_model_path() : std::string(); }

std::map<std::string, double> ModelCheckpoint::best_k_models() const {
  return top_k_ ? top_k_->best_k_models() : std::map<std::string, double>();
}

std::string ModelCheckpoint::kth_best_model_path() const {
  return top_k_ ? top_k_->kth_best_model_path() : std::string();
}

std::string ModelCheckpoint::last_model_path() const { return top_k_ ? top_k_->last_model_path() : std::string(); }

std::string ModelCheckpoint::best_checkpoint() const {
  if (top_k_) return top_k_->best_model_path();
  return options_.save_best_only ? last_path_ : std::string();
}

std::vector<std::string> ModelCheckpoint::last_checkpoints(const std::string& root) const {
  if (top_k_) return top_k_->last_checkpoints(root);
  if (options_.save_weights_only || has_whole_model(filepath_)) return {};
  if (!last_path_.empty()) return {last_path_};
  return {filepath_};
}

void ModelCheckpoint::on_train_begin(Logs&) {
  if (top_k_) return top_k_->begin(session());
  if (options_.save_best_only) monitor_.resolve(session());
  best_ = options_.initial_value_threshold;
  last_path_.clear();
  batches_ = 0;
}

void ModelCheckpoint::on_train_batch_end(std::int64_t batch, Logs& logs) {
  if (top_k_) return top_k_->after_batch(session(), logs);
  if (options_.save_freq.by_epoch() || ++batches_ < options_.save_freq.batches()) return;
  batches_ = 0;
  save(session().current_epoch(), batch, logs);
}

void ModelCheckpoint::on_epoch_end(int epoch, Logs& logs) {
  if (top_k_) return top_k_->after_epoch(session(), logs);
  if (options_.save_freq.by_epoch()) save(epoch, {}, logs);
}

void ModelCheckpoint::on_validation_end(Logs& logs) {
  if (top_k_) top_k_->after_validation(session(), logs);
}

void ModelCheckpoint::on_train_end(Logs& logs) {
  if (top_k_) top_k_->end(session(), logs);
}

void ModelCheckpoint::on_exception(const std::exception&) {
  if (top_k_ && session().stage() == Stage::fit) top_k_->after_error(session());
}

bool ModelCheckpoint::is_best(int epoch, double current, const std::string& path) {
  const bool better = monitor_.improves(current, best_);
  if (options_.verbose > 0) {
    detail::write_line(fmt::format("{} epoch {}: {} is {:.5f}, the best before {}; {}", checkpoint_label, epoch + 1,
                                   monitor_.name(), current, best_ ? fmt::format("{:.5f}", *best_) : "none",
                                   better ? "saving " + path : "not saved"));
  }
  if (better) best_ = current;
  return better;
}

void ModelCheckpoint::save(int epoch, std::optional<std::int64_t> batch, const Logs& logs) {
  std::optional<double> current;
  if (options_.save_best_only && !(current = monitor_.value(logs, session()))) return;
  std::vector<std::pair<std::string, std::int64_t>> counts{{"epoch", epoch + 1}};
  if (batch) counts.emplace_back("batch", *batch + 1);
  const std::string path = detail::filled_path(checkpoint_label, filepath_, counts, logs);
  if (current && !is_best(epoch, *current, path)) return;
  if (std::filesystem::is_directory(path)) {
    fail<FileError>(checkpoint_label, "filepath must name a file; got the folder \"{}\"", path);
  }
  detail::make_folder_of(checkpoint_label, path);
  last_path_ = path;
  if (options_.save_weights_only) {
    session().save_weights(path);
  } else if (has_whole_model(filepath_)) {
    session().model().save(path);
  } else {
    session().save_checkpoint(path);
  }
  if (options_.verbose > 0) detail::write_line(fmt::format("{} epoch {}: saved {}", checkpoint_label, epoch + 1, path));
}

std::string ModelCheckpoint::state_name() const {
  return top_k_ ? top_k_->state_name() : "ModelCheckpoint." + filepath_;
}

CallbackState ModelCheckpoint::state() const {
  if (top_k_) return top_k_->state();
  CallbackState state{.numbers = {{"batches", batches_}}, .tensors = {}, .texts = {}};
  if (best_) state.numbers["best"] = *best_;
  return state;
}

std::optional<CallbackState> ModelCheckpoint::results() const {
  CallbackState out = state();
  if (!top_k_) out.texts["last_path"] = last_path_;
  return out;
}

void ModelCheckpoint::take_results(const CallbackState& results) {
  if (top_k_) return top_k_->take_results(results);
  best_ = detail::number_in(results, "best");
  last_path_ = results.texts.at("last_path");
}

void ModelCheckpoint::set_state(const CallbackState& state) {
  if (top_k_) return top_k_->set_state(state);
  batches_ = detail::count_in(state, "batches");
  if (const auto best = detail::number_in(state, "best")) best_ = best;
}

}  // namespace mezzo
