#pragma once
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct CSVLoggerOptions {
  std::string separator = ",";  ///< one character
  bool append = false;          ///< continues an existing file, without a second header
};

/// Writes the logs of epochs to a CSV file, in the format of Python's csv module: a header, then a row after each
/// epoch. Columns are `epoch`, counted from 0, and the names in the logs of the first epoch, sorted. If these have no
/// `val_` names, `val_` columns follow. Numbers that an epoch lacks are NA, as in Keras.
class MEZZO_API CSVLogger : public Callback {
 public:
  /// A ValueError for a separator of another length than 1, or one of a quote and a line end.
  explicit CSVLogger(std::string filename, CSVLoggerOptions options = {});

  /// A FileError if the file can't be opened.
  void on_train_begin(Logs& logs) override;
  bool on_all_ranks() const override { return false; }
  void on_epoch_end(int epoch, Logs& logs) override;  ///< a FileError if the file can't be written
  void on_train_end(Logs& logs) override;
  void on_exception(const std::exception& error) override;

 private:
  void write(const std::vector<std::string>& fields);

  std::string filename_;
  CSVLoggerOptions options_;
  std::shared_ptr<std::ofstream> file_;  // during fit
  bool header_ = true;
  std::vector<std::string> names_;  // of the columns after "epoch"
};

}  // namespace mezzo
