#include <mezzo/training/callbacks/top_k_checkpoints.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/training/loops/texts.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo::detail {
namespace {

namespace fs = std::filesystem;
constexpr const char* top_k_label = "[ModelCheckpoint]";
constexpr const char* checkpoint_extension = ".ckpt";
constexpr const char* default_file_name = "{epoch}-{step}";

/// `{epoch:02d}` -> `epoch={epoch:02d}`.
std::string with_metric_names(const std::string& path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool doubled = i + 1 < path.size() && path[i + 1] == path[i];
    if (path[i] == '{' && !doubled) out += path.substr(i + 1, path.find_first_of(":}", i) - i - 1) + "=";
    out += path[i];
    if ((path[i] == '{' || path[i] == '}') && doubled) out += path[i++];
  }
  return out;
}

std::string absolute_path(const std::string& path) {
  return path.empty() ? path : fs::absolute(path).lexically_normal().string();
}

}  // namespace

TopKCheckpoints::TopKCheckpoints(TopKCheckpointOptions options)
    : options_(std::move(options)),
      every_n_epochs_(
          options_.every_n_epochs.value_or(options_.every_n_train_steps || options_.train_time_interval ? 0 : 1)),
      every_n_train_steps_(options_.every_n_train_steps.value_or(0)) {
  check_path(options_.dirpath, top_k_label);
  const auto require = [](bool good, const char* option, const char* range, int value) {
    if (!good) fail<ValueError>(top_k_label, "{} must be {}; got {}", option, range, value);
  };
  require(options_.save_top_k >= -1, "save_top_k", "-1 or more", options_.save_top_k);
  require(every_n_epochs_ >= 0, "every_n_epochs", "0 or more", every_n_epochs_);
  require(every_n_train_steps_ >= 0, "every_n_train_steps", "0 or more", every_n_train_steps_);
  require(!options_.monitor.empty() || options_.save_top_k <= 1, "save_top_k", "-1, 0 or 1 without a monitor",
          options_.save_top_k);
  const int triggers =
      (every_n_epochs_ > 0 ? 1 : 0) + (every_n_train_steps_ > 0 ? 1 : 0) + (options_.train_time_interval ? 1 : 0);
  if (triggers > 1) {
    fail<ValueError>(top_k_label,
                     "one of every_n_epochs, every_n_train_steps and train_time_interval may be given; got {}",
                     triggers);
  }
  if (!options_.monitor.empty()) monitor_.emplace("ModelCheckpoint", options_.monitor, options_.mode);
}

/// True if fit has resumed from a checkpoint of that folder or of the Trainer: the files are those of this training.
bool TopKCheckpoints::continues(const Session& session) const {
  if (session.ckpt_path().empty()) return false;
  const fs::path from = fs::path(absolute_path(session.ckpt_path())).parent_path();
  const std::string own = (fs::path(session.default_root_dir()) / "checkpoints").string();
  return from == absolute_path(dirpath_) || from == absolute_path(own);
}

void TopKCheckpoints::begin(const Session& session) {
  if (monitor_) monitor_->resolve(session);
  models_.clear();
  best_model_score_.reset();
  best_model_path_.clear();
  last_model_path_.clear();
  last_saved_.clear();
  last_step_ = 0;
  deferred_ = false;
  dirpath_ = options_.dirpath.empty() ? (fs::path(session.log_dir()) / "checkpoints").string() : options_.dirpath;
  last_time_ = Clock::now();
  std::error_code ignored;
  const bool used = fs::is_directory(dirpath_, ignored) && !fs::is_empty(dirpath_, ignored);
  if (options_.save_top_k != 0 && used && !continues(session))
    warn(fmt::format("{} folder \"{}\" is not empty", top_k_label, dirpath_));
}

/// Undoes the changes of a save that fails, so that the files are as before.
class TopKCheckpoints::Restorer {
 public:
  explicit Restorer(TopKCheckpoints& checkpoints) : checkpoints_(checkpoints), before_(checkpoints) {}
  ~Restorer() {
    if (std::uncaught_exceptions() > exceptions_) checkpoints_ = before_;
  }
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

 private:
  TopKCheckpoints& checkpoints_;
  const TopKCheckpoints before_;
  const int exceptions_ = std::uncaught_exceptions();
};

bool TopKCheckpoints::acts_after_epochs(const Session& session) const {
  return options_.save_on_train_epoch_end.value_or(session.validates_each_epoch());
}

void TopKCheckpoints::after_batch(const Session& session, const Logs& logs) {
  bool due = every_n_train_steps_ > 0 && session.global_step() % every_n_train_steps_ == 0;
  if (options_.train_time_interval &&
      std::chrono::duration<double>(Clock::now() - last_time_).count() >= options_.train_time_interval->seconds()) {
    due = true;
    last_time_ = Clock::now();
  }
  if (!due || has_saved_step(session)) return;
  if (monitor_ && !find_log(logs, monitor_->name())) {
    deferred_ = true;  // a number of the validation
    return;
  }
  save_top_k(session, logs);
  save_last(session, logs);
}

void TopKCheckpoints::after_epoch(const Session& session, const Logs& logs) {
  after_check(session, logs, acts_after_epochs(session));
  if (deferred_) monitor_->value(logs, session);  // an error if nothing logs it
}

void TopKCheckpoints::after_validation(const Session& session, const Logs& logs) {
  after_check(session, logs, !acts_after_epochs(session));
}

void TopKCheckpoints::after_check(const Session& session, const Logs& logs, bool due) {
  if (session.stage() != Stage::fit || session.sanity_checking() || has_saved_step(session)) return;
  if (deferred_ && find_log(logs, monitor_->name())) {
    deferred_ = false;
    save_top_k(session, logs);
    save_last(session, logs);
    return;
  }
  if (!due) return;
  if (every_n_epochs_ > 0 && (session.current_epoch() + 1) % every_n_epochs_ == 0) save_top_k(session, logs);
  if (has_saved_step(session) || (options_.save_last.links() && !last_saved_.empty())) save_last(session, logs);
}

void TopKCheckpoints::after_error(const Session& session) {
  if (!options_.save_on_exception || session.sanity_checking() || has_saved_step(session)) return;
  std::string name;
  try {
    name = file_name(session, session.logs());
  } catch (const ValueError&) {  // a number of the name isn't known yet
    name = filled_path(top_k_label, with_metric_names(default_file_name),
                       {{"epoch", session.current_epoch()}, {"step", session.global_step()}}, {});
  }
  write(session, path_of(name));
  save_last(session, session.logs());
}

void TopKCheckpoints::end(const Session& session, const Logs& logs) {
  if (last_saved_.empty()) save_last(session, logs);
}

std::string TopKCheckpoints::path_of(const std::string& name) const {
  return (fs::path(dirpath_) / (name + checkpoint_extension)).string();
}

std::string TopKCheckpoints::file_name(const Session& session, const Logs& logs) const {
  const std::string name = options_.filename.empty() ? default_file_name : options_.filename;
  return filled_path(top_k_label, options_.auto_insert_metric_name ? with_metric_names(name) : name,
                     {{"epoch", session.current_epoch()}, {"step", session.global_step()}}, logs);
}

std::string TopKCheckpoints::new_path(const std::string& name, const std::string& own) const {
  std::string path = path_of(name);
  for (int version = 1; options_.enable_version_counter && path != own && fs::exists(path); ++version) {
    path = path_of(fmt::format("{}-v{}", name, version));
  }
  return path;
}

TopKCheckpoints::Models::const_iterator TopKCheckpoints::best() const {
  return std::min_element(models_.begin(), models_.end(),
                          [&](const auto& a, const auto& b) { return beats(a.second, b.second, monitor_->rises()); });
}

TopKCheckpoints::Models::const_iterator TopKCheckpoints::worst() const {
  return std::min_element(models_.begin(), models_.end(),
                          [&](const auto& a, const auto& b) { return beats(b.second, a.second, monitor_->rises()); });
}

std::string TopKCheckpoints::kth_best_model_path() const {
  const bool all = options_.save_top_k > 0 && models_.size() == static_cast<std::size_t>(options_.save_top_k);
  return all ? worst()->first : std::string();
}

void TopKCheckpoints::save_top_k(const Session& session, const Logs& logs) {
  if (options_.save_top_k == 0) return;
  const Restorer restorer(*this);
  if (!monitor_) {
    const std::string before = best_model_path_;
    best_model_path_ = new_path(file_name(session, logs), before);  // first, since the file contains it
    write(session, best_model_path_);
    if (options_.save_top_k == 1) remove(session, before, best_model_path_);
    return;
  }
  const auto current = monitor_->value(logs, session);
  if (!current) return;
  const bool room = options_.save_top_k < 0 || models_.size() < static_cast<std::size_t>(options_.save_top_k);
  if (room || monitor_->improves(*current, worst()->second)) {
    save_monitored(session, logs, *current);
  } else if (options_.verbose) {
    write_line(fmt::format("Epoch {}, step {}: {} {:.5f} is not among the best {}", session.current_epoch(),
                           session.global_step(), monitor_->name(), *current, options_.save_top_k));
  }
}

void TopKCheckpoints::save_monitored(const Session& session, const Logs& logs, double current) {
  std::string replaced;
  if (options_.save_top_k > 0 && models_.size() == static_cast<std::size_t>(options_.save_top_k)) {
    replaced = worst()->first;
    models_.erase(worst());
  }
  const std::string path = new_path(file_name(session, logs), replaced);
  models_.erase(std::remove_if(models_.begin(), models_.end(), [&](const auto& one) { return one.first == path; }),
                models_.end());
  models_.emplace_back(path, current);
  const bool known = !std::isnan(best()->second);
  best_model_path_ = known ? best()->first : std::string();
  best_model_score_ = known ? best()->second : std::optional<double>();
  if (options_.verbose) {
    write_line(fmt::format("Epoch {}, step {}: {} is {:.5f} (best {}), saving \"{}\"", session.current_epoch(),
                           session.global_step(), monitor_->name(), current,
                           best_model_score_ ? fmt::format("{:.5f}", *best_model_score_) : "none", path));
  }
  write(session, path);
  remove(session, replaced, path);
}

void TopKCheckpoints::save_last(const Session& session, const Logs&) {
  if (!options_.save_last.saves()) return;
  const Restorer restorer(*this);
  const std::string before = last_model_path_, saved = last_saved_;
  last_model_path_ = new_path("last", before);
  if (options_.save_last.links() && !saved.empty() && options_.save_top_k != 0) {
    link(saved, last_model_path_);
  } else {
    write(session, last_model_path_);
  }
  remove(session, before, last_model_path_);
}

void TopKCheckpoints::write(const Session& session, const std::string& path) {
  make_folder_of(top_k_label, path);
  last_step_ = session.global_step();
  last_saved_ = path;
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) fs::remove(path, ignored);  // the link, not its target
  if (options_.save_weights_only) {
    session.save_weights(path);
  } else {
    session.save_checkpoint(path);
  }
}

void TopKCheckpoints::link(const std::string& path, const std::string& to) const {
  replace_link(fs::relative(path, fs::path(to).parent_path()).string(), to, top_k_label);
}

void TopKCheckpoints::remove(const Session& session, const std::string& path, const std::string& current) const {
  const std::string old = absolute_path(path), folder = (fs::path(absolute_path(dirpath_)) / "").string();
  if (path.empty() || path == current || old == absolute_path(session.ckpt_path()) || old.rfind(folder, 0) != 0) return;
  std::error_code error;
  // A process that is killed after the removal must find a file behind the link.
  const bool linked = options_.save_last.links() && fs::equivalent(path, last_model_path_, error);
  if (linked && !current.empty() && current != last_model_path_) link(current, last_model_path_);
  fs::remove(path, error);
  if (error) warn(fmt::format("{} \"{}\" can't be removed: {}", top_k_label, path, error.message()));
}

std::vector<std::string> TopKCheckpoints::last_checkpoints(const std::string& root) const {
  if (options_.save_weights_only) return {};
  std::vector<std::string> out;
  if (!last_saved_.empty()) out.push_back(last_saved_);
  fs::path folder = !dirpath_.empty() ? dirpath_ : options_.dirpath;
  if (folder.empty()) folder = fs::path(root) / "checkpoints";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("last", 0) == 0 && name.ends_with(checkpoint_extension)) out.push_back(entry.path().string());
  }
  return out;
}

std::string TopKCheckpoints::state_name() const {
  const double seconds = options_.train_time_interval ? options_.train_time_interval->seconds() : 0;
  return fmt::format("ModelCheckpoint.{}.{}.{}.{}.{}", options_.monitor, options_.mode, every_n_epochs_,
                     every_n_train_steps_, seconds);
}

CallbackState TopKCheckpoints::state() const {
  CallbackState state;
  state.numbers = {{"last_step", last_step_}, {"deferred", deferred_ ? 1 : 0}};
  if (best_model_score_) state.numbers["best_model_score"] = *best_model_score_;
  state.texts = {{"dirpath", absolute_path(dirpath_)},
                 {"best_model_path", best_model_path_},
                 {"last_model_path", last_model_path_},
                 {"last_saved", last_saved_}};
  for (std::size_t i = 0; i < models_.size(); ++i) {
    state.texts[fmt::format("model{}", i)] = models_[i].first;
    state.numbers[fmt::format("model{}", i)] = models_[i].second;
  }
  return state;
}

void TopKCheckpoints::take_results(const CallbackState& results) {
  dirpath_ = results.texts.at("dirpath");
  best_model_score_.reset();
  set_state(results);
}

void TopKCheckpoints::set_state(const CallbackState& state) {
  const auto text = [&](const std::string& key) {
    const auto found = state.texts.find(key);
    return found == state.texts.end() ? std::string() : found->second;
  };
  best_model_path_ = text("best_model_path");
  if (const std::string before = text("dirpath"); before != absolute_path(dirpath_)) {
    warn(
        fmt::format("{} the checkpoint was saved with dirpath \"{}\", now it is \"{}\": of its state only "
                    "best_model_path is taken",
                    top_k_label, before, absolute_path(dirpath_)));
    return;
  }
  best_model_score_ = number_in(state, "best_model_score");
  last_model_path_ = text("last_model_path");
  last_saved_ = text("last_saved");
  constexpr double largest = 0x1p53;
  const double step = number_in(state, "last_step").value_or(0);
  last_step_ = step >= 0 && step <= largest ? static_cast<std::int64_t>(step) : 0;  // files may come from others
  deferred_ = monitor_.has_value() && number_in(state, "deferred").value_or(0) != 0;
  models_.clear();
  for (std::size_t i = 0;; ++i) {
    const std::string key = fmt::format("model{}", i);
    const auto score = number_in(state, key);
    if (!score || text(key).empty()) break;
    models_.emplace_back(text(key), *score);
  }
}

}  // namespace mezzo::detail
