#include <mezzo/training/callbacks/csv_logger.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/training/loggers/log_text.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo {
namespace {

const char* const logger_label = "[CSVLogger]";

}  // namespace

CSVLogger::CSVLogger(std::string filename, CSVLoggerOptions options)
    : filename_(std::move(filename)), options_(std::move(options)) {
  detail::check_path(filename_, logger_label);
  detail::check_suffix(filename_, detail::FileKind::table, logger_label, ".csv, or have a suffix of its own");
  if (options_.separator.size() != 1 || std::string("\"\r\n").find(options_.separator) != std::string::npos) {
    fail<ValueError>(logger_label, "separator must be one character, no quote or line end; got \"{}\"",
                     options_.separator);
  }
}

void CSVLogger::on_train_begin(Logs&) {
  header_ = true;
  if (options_.append) header_ = std::ifstream(filename_).peek() == std::ifstream::traits_type::eof();
  names_.clear();
  file_ = std::make_shared<std::ofstream>(filename_,
                                          std::ios::binary | (options_.append ? std::ios::app : std::ios::trunc));
  if (!*file_) fail<FileError>(logger_label, "file \"{}\" must be writable; it can't be opened", filename_);
}

void CSVLogger::on_epoch_end(int epoch, Logs& logs) {
  if (names_.empty()) {
    for (const auto& entry : logs) names_.push_back(entry.first);
    std::sort(names_.begin(), names_.end());
    const auto validates = [](const std::string& name) { return name.rfind("val_", 0) == 0; };
    if (std::none_of(names_.begin(), names_.end(), validates)) {
      const std::vector<std::string> own = names_;
      for (const std::string& name : own) names_.push_back("val_" + name);
    }
    if (header_) {
      std::vector<std::string> fields{"epoch"};
      fields.insert(fields.end(), names_.begin(), names_.end());
      write(fields);
      header_ = false;
    }
  }
  std::vector<std::string> row{fmt::to_string(epoch)};
  for (const std::string& name : names_) {
    const auto number = detail::find_log(logs, name);
    row.push_back(number ? detail::python_text(*number) : "NA");
  }
  write(row);
}

void CSVLogger::write(const std::vector<std::string>& fields) {
  *file_ << detail::csv_line(fields, options_.separator) << std::flush;
  if (!*file_) fail<FileError>(logger_label, "file \"{}\" must be writable; a write failed", filename_);
}

void CSVLogger::on_train_end(Logs&) { file_.reset(); }

void CSVLogger::on_exception(const std::exception&) { file_.reset(); }

}  // namespace mezzo
