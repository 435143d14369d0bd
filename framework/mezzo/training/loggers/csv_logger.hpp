#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/training/loggers/run_folder.hpp>
#include <mezzo/training/module/logger.hpp>

namespace mezzo::loggers {

struct CSVLoggerOptions {
  std::string name = "mezzo_logs";   ///< folder in save_dir; "": none
  LogVersion version{};              ///< folder in it; default: "version_0" or the next free number
  std::string prefix{};              ///< put in front of names: "prefix-loss"
  int flush_logs_every_n_steps = 1;  ///< writes to the file every n steps, and at the end; 1 or more
};

/// Writes the numbers of a training to `save_dir/name/version/metrics.csv`, in the format of Python's csv module, and
/// hyperparameters to hparams.yaml beside it, as Lightning does. A row has the column "step" and the numbers of one
/// call; columns are sorted, and fields of other numbers are empty. A new name adds a column: the whole file is written
/// again. An existing file of a given version is continued.
class MEZZO_API CSVLogger : public Logger {
 public:
  /// A ValueError for an empty save_dir or flush_logs_every_n_steps below 1.
  explicit CSVLogger(const std::string& save_dir, const CSVLoggerOptions& options = {});

  /// A ValueError for a number named "step". This and the others: a FileError if a file can't be written.
  void log_metrics(const Logs& metrics, std::int64_t step) override;
  void log_hyperparams(const Hyperparameters& params) override;
  std::string log_dir() const override;  ///< makes the folder
  std::string version() const;           ///< last part of log_dir(), for other loggers of the run
  void save() override;
  void finalize(const std::string& status) override;

 private:
  struct State;
  detail::Held<State> state_;
};

}  // namespace mezzo::loggers
