#include <mezzo/training/loggers/csv_logger.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/append_file.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/training/loggers/hyperparameters_file.hpp>
#include <mezzo/training/loggers/log_text.hpp>

namespace mezzo::loggers {
namespace {

const char* const csv_label = "[loggers::CSVLogger]";
using Row = std::map<std::string, std::string>;

/// Fields of a row in the order of the columns.
std::vector<std::string> fields_of(const Row& row, const std::vector<std::string>& columns) {
  std::vector<std::string> fields;
  for (const std::string& column : columns) {
    const auto found = row.find(column);
    fields.push_back(found == row.end() ? "" : found->second);
  }
  return fields;
}

}  // namespace

struct CSVLogger::State {
  detail::RunFolder folder;
  CSVLoggerOptions options;
  Hyperparameters hyperparams{};
  std::vector<Row> rows{};             ///< that are not in the file yet
  std::vector<std::string> columns{};  ///< of the file
  std::optional<std::int64_t> flushed{};
  bool begun = false;

  std::string path() { return folder.file("metrics.csv"); }

  /// Rows of the file, the header first; none if there is no file.
  std::vector<std::vector<std::string>> lines_of_file() {
    constexpr std::uint64_t limit = std::uint64_t{1} << 32;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path(), ignored)) return {};
    const detail::Bytes bytes = detail::read_file(path(), limit);
    return detail::csv_lines({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  /// Adds the columns that the rows need. Rows in the file have empty fields for them.
  void add_columns() {
    std::vector<std::string> all = columns;
    for (const Row& row : rows) {
      for (const auto& entry : row) all.push_back(entry.first);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() == columns.size()) return;
    std::string text = detail::csv_line(all);
    const auto lines = lines_of_file();
    for (std::size_t i = 1; i < lines.size(); ++i) {
      Row row;
      for (std::size_t c = 0; c < std::min(columns.size(), lines[i].size()); ++c) row[columns[c]] = lines[i][c];
      text += detail::csv_line(fields_of(row, all));
    }
    const std::string place = path();
    std::error_code ignored;
    if (lines.empty() && std::filesystem::exists(place, ignored)) {  // empty, or a device
      detail::AppendFile(place, csv_label).write(text);
    } else {
      detail::replace_file(place, text, fmt::format("{} \"{}\":", csv_label, place));
    }
    columns = std::move(all);
  }

  void write_rows() {
    if (!begun) {
      const auto lines = lines_of_file();
      if (!lines.empty()) columns = lines.front();
      begun = true;
    }
    if (rows.empty()) return;
    add_columns();
    std::string text;
    for (const Row& row : rows) text += detail::csv_line(fields_of(row, columns));
    detail::AppendFile(path(), csv_label, true).write(text);
    rows.clear();
  }
};

CSVLogger::CSVLogger(const std::string& save_dir, const CSVLoggerOptions& options)
    : state_(std::make_shared<State>(
          State{.folder = {csv_label, save_dir, options.name, options.version}, .options = options})) {
  if (options.flush_logs_every_n_steps < 1) {
    fail<ValueError>(csv_label, "flush_logs_every_n_steps must be 1 or more; got {}", options.flush_logs_every_n_steps);
  }
}

void CSVLogger::log_metrics(const Logs& metrics, std::int64_t step) {
  if (metrics.empty()) return;
  Row row;
  for (const auto& [name, number] : metrics) {
    const std::string column = detail::prefixed(state_->options.prefix, name);
    if (column == "step") fail<ValueError>(csv_label, "names of numbers must not be \"step\", the column of steps");
    row[column] = detail::logged_text(name, number);
  }
  row["step"] = fmt::to_string(step);
  state_->rows.push_back(std::move(row));
  const int every = state_->options.flush_logs_every_n_steps;
  if (!state_->flushed) state_->flushed = step;
  if (step - *state_->flushed + 1 < every && static_cast<int>(state_->rows.size()) < every) return;
  state_->flushed = step + 1;
  state_->write_rows();
}

void CSVLogger::log_hyperparams(const Hyperparameters& params) {
  detail::merge(state_->hyperparams, params);
  detail::write_yaml(state_->folder.file("hparams.yaml"), csv_label, state_->hyperparams);
}

std::string CSVLogger::log_dir() const { return state_->folder.path(); }

std::string CSVLogger::version() const { return state_->folder.version(); }

void CSVLogger::save() { state_->write_rows(); }

void CSVLogger::finalize(const std::string&) { save(); }

}  // namespace mezzo::loggers
