#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/callbacks/model_checkpoint.hpp>
#include <mezzo/training/callbacks/monitor.hpp>

namespace mezzo::detail {

/// The checkpoints of one ModelCheckpoint by Lightning's rules: when they are saved, their names, and which of them are
/// removed.
class TopKCheckpoints {
 public:
  /// A ValueError for options out of range or that exclude each other.
  explicit TopKCheckpoints(TopKCheckpointOptions options);

  void begin(const Session& session);
  void after_batch(const Session& session, const Logs& logs);
  void after_epoch(const Session& session, const Logs& logs);
  void after_validation(const Session& session, const Logs& logs);
  void after_error(const Session& session);
  void end(const Session& session, const Logs& logs);

  std::string state_name() const;
  CallbackState state() const;
  void set_state(const CallbackState& state);

  /// Takes over the state of the same checkpoints, which another process has written.
  void take_results(const CallbackState& results);

  const std::string& best_model_path() const { return best_model_path_; }
  std::optional<double> best_model_score() const { return best_model_score_; }
  std::map<std::string, double> best_k_models() const { return {models_.begin(), models_.end()}; }
  std::string kth_best_model_path() const;
  const std::string& last_model_path() const { return last_model_path_; }
  const std::string& last_saved() const { return last_saved_; }
  std::vector<std::string> last_checkpoints(const std::string& root) const;

 private:
  class Restorer;
  using Clock = std::chrono::steady_clock;
  using Models = std::vector<std::pair<std::string, double>>;

  bool continues(const Session& session) const;
  bool acts_after_epochs(const Session& session) const;
  bool has_saved_step(const Session& session) const { return last_step_ == session.global_step(); }
  /// Saves at the end of an epoch or validation, if that is due.
  void after_check(const Session& session, const Logs& logs, bool due);
  void save_top_k(const Session& session, const Logs& logs);
  void save_monitored(const Session& session, const Logs& logs, double current);
  void save_last(const Session& session, const Logs& logs);
  void write(const Session& session, const std::string& path);
  void link(const std::string& path, const std::string& to) const;
  /// Removes a file that was replaced, unless it is `current`, the file that fit resumed from, or in another folder.
  void remove(const Session& session, const std::string& path, const std::string& current) const;
  std::string path_of(const std::string& name) const;
  std::string file_name(const Session& session, const Logs& logs) const;
  /// The path with a suffix "-v1", "-v2", ... that makes it different from all files except `own`.
  std::string new_path(const std::string& name, const std::string& own) const;
  Models::const_iterator worst() const;
  Models::const_iterator best() const;

  TopKCheckpointOptions options_;
  std::optional<Monitor> monitor_;
  int every_n_epochs_, every_n_train_steps_;
  std::string dirpath_;
  Models models_;  // the best ones, in the order of saving
  std::optional<double> best_model_score_;
  std::string best_model_path_, last_model_path_, last_saved_;
  std::int64_t last_step_ = 0;  // global step of the last file; nothing is saved before the first step
  bool deferred_ = false;       // true: a file is due as soon as the number is known
  Clock::time_point last_time_;
};

}  // namespace mezzo::detail
