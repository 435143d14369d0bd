#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/training/loggers/run_folder.hpp>
#include <mezzo/training/module/logger.hpp>

namespace mezzo::loggers {

struct JSONLoggerOptions {
  std::string name = "mezzo_logs";  ///< folder in save_dir; "": none
  LogVersion version{};             ///< folder in it; default: "version_0" or the next free number
  std::string prefix{};             ///< put in front of names: "prefix-loss"
};

/// Writes the numbers of a training to `save_dir/name/version/metrics.jsonl`: a line of JSON for each call,
/// `{"step":49,"loss":0.25}`, at once. Numbers that JSON lacks are the texts "NaN", "Infinity" and "-Infinity".
/// Hyperparameters are lines `{"hyperparameters":{"learning_rate":0.001}}`. An existing file of a given version is
/// continued.
class MEZZO_API JSONLogger : public Logger {
 public:
  /// A ValueError for an empty save_dir.
  explicit JSONLogger(const std::string& save_dir, const JSONLoggerOptions& options = {});

  /// A ValueError for a number named "step". This and the others: a FileError if the file can't be written.
  void log_metrics(const Logs& metrics, std::int64_t step) override;
  void log_hyperparams(const Hyperparameters& params) override;
  std::string log_dir() const override;  ///< makes the folder
  std::string version() const;           ///< last part of log_dir(), for other loggers of the run
  void finalize(const std::string& status) override;

 private:
  struct State;
  detail::Held<State> state_;
};

}  // namespace mezzo::loggers
