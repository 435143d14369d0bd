#include <mezzo/data/tables/csv_file.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/data/tables/csv_records.hpp>
#include <mezzo/data/tables/parallel_parts.hpp>

namespace mezzo::detail {

namespace {

void check_counts(const ReadCsvOptions& options, const std::string& where) {
  if (options.skiprows < 0) fail<ValueError>(where, "skiprows must be 0 or more; got {}", options.skiprows);
  if (options.nrows.value_or(0) < 0) fail<ValueError>(where, "nrows must be 0 or more; got {}", *options.nrows);
  if (options.header.record().value_or(0) < 0) {
    fail<ValueError>(where, "header must be 0 or more; got {}", *options.header.record());
  }
}

/// The parts with the next `count` rows. Moves the position to the end of the last one.
std::vector<CsvPart> next_parts(const std::vector<CsvPart>& all, std::int64_t count, CsvPosition& position) {
  std::vector<CsvPart> parts;
  std::int64_t rows = 0;
  const auto add = [&](CsvPart part) {
    rows += part.rows;
    parts.push_back(std::move(part));
  };
  if (position.begun) add(*std::exchange(position.begun, std::nullopt));
  while (rows < count && position.part < all.size()) add(all[position.part++]);
  return parts;
}

}  // namespace

std::vector<std::string> csv_names(const std::string& path, const ReadCsvOptions& options, const std::string& where) {
  check_counts(options, where);
  CsvSource source(path, where);
  CsvDialect dialect = csv_dialect(options, where);
  return read_csv_head(source, options, dialect, where).names;
}

CsvFile::CsvFile(const std::string& path, const ReadCsvOptions& options, const std::string& where, bool chunks)
    : path_(path), where_(where), source_(path, where) {
  check_counts(options, where);
  dialect_ = csv_dialect(options, where);
  head_ = read_csv_head(source_, options, dialect_, where);
  choose_columns(options);
  const auto has_categories = [](const CsvColumn& column) {
    return column.given && column.given->kind() == ColumnType::Kind::categories;
  };
  const bool all_rows = chunks || std::any_of(columns_.begin(), columns_.end(), has_categories);
  scan_ = scan_csv(source_, dialect_, head_, columns_, options.nrows, all_rows, where);
}

void CsvFile::choose_columns(const ReadCsvOptions& options) {
  const std::set<std::string> known(head_.names.begin(), head_.names.end());
  std::set<std::string> used;
  for (const std::string& name : options.usecols) {
    if (known.count(name) == 0) fail_unknown(where_, "column", name, head_.names);
    if (!used.insert(name).second) fail<ValueError>(where_, "usecols must differ; got \"{}\" twice", name);
  }
  for (const auto& [name, type] : options.dtype.by_name()) {
    if (known.count(name) == 0) fail_unknown(where_, "column", name, head_.names);
  }
  for (std::size_t i = 0; i < head_.names.size(); ++i) {
    const std::string& name = head_.names[i];
    if (used.empty() || used.count(name) > 0) columns_.push_back({name, i, options.dtype.of(name)});
  }
}

std::vector<std::string> CsvFile::columns() const {
  std::vector<std::string> names;
  for (const CsvColumn& column : columns_) names.push_back(column.name);
  return names;
}

void CsvFile::Refused::add(const Refused& other) {
  if (other.line == 0) return;
  seen.add(other.seen);
  if (line == 0 || other.line < line) line = other.line, text = other.text;
}

/// Reads the bytes of a part, with a line end behind them.
void CsvFile::read_part(const CsvPart& part, char* to) {
  if (source_.read(part.offset, to, part.bytes) != part.bytes) {
    fail<FileError>(where_, "the file must have the bytes that it had when it was opened; it ends earlier");
  }
  to[part.bytes] = '\n';
}

std::vector<CsvTarget> CsvFile::targets_of(const std::vector<std::size_t>& columns, std::int64_t rows) const {
  std::vector<CsvTarget> targets;
  targets.reserve(columns.size());
  for (const std::size_t i : columns) targets.emplace_back(columns_[i], scan_.seen[i], dialect_, rows);
  return targets;
}

void CsvFile::store(CsvTarget& target, std::string_view field, std::int64_t row, std::int64_t line,
                    Refused& refused) const {
  if (target.is_text()) check_utf8(field, where_, line, target.column().name);
  if (target.store(field, row)) return;
  if (refused.line == 0) {
    refused.line = line;
    refused.text = target.refusal(field);
    if (target.column().given) fail_refused(target.column(), refused);
  }
  refused.seen.add(field, dialect_);
}

/// Writes `rows` rows of a part to the targets from row `to`. Returns the rest of the part.
CsvPart CsvFile::convert(std::string_view text, const CsvPart& part, std::int64_t rows, std::int64_t to,
                         std::vector<CsvTarget>& targets, RowLines& lines, AllRefused& refused) const {
  CsvRecords records(text, dialect_, part.line);
  for (std::int64_t row = to; row < to + rows && records.next(); ++row) {
    if (!lines.each.empty()) lines.each[static_cast<std::size_t>(row)] = records.line();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      store(targets[i], records.fields()[targets[i].column().field], row, records.line(), refused[i]);
    }
  }
  return {part.offset + records.position(), part.bytes - records.position(), part.rows - rows, records.next_line(),
          part.text};
}

/// Writes all rows of a part whose records are lines without quotes.
void CsvFile::convert_lines(std::string_view text, const CsvPart& part, std::int64_t to,
                            std::vector<CsvTarget>& targets, RowLines& lines, AllRefused& refused) const {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto field_end = [&] {
    const char* stop = at;
    while (*stop != dialect_.sep && *stop != '\n') ++stop;
    return stop;
  };
  for (std::int64_t row = to; row < to + part.rows && at < end; ++row) {
    const std::int64_t line = part.line + row - to;
    if (!lines.each.empty()) lines.each[static_cast<std::size_t>(row)] = line;
    std::size_t field = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      for (; field < targets[i].column().field && at < end; ++field) at = std::min(field_end() + 1, end);
      const char* stop = targets[i].store_usual(at, end, row);
      if (stop == nullptr) {
        stop = field_end();
        store(targets[i], {at, static_cast<std::size_t>(stop - at)}, row, line, refused[i]);
      }
      at = stop;
      if (i + 1 < targets.size() && at < end) ++at, ++field;
    }
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at) + 1)) + 1;
  }
}

void CsvFile::convert_part(CsvPart& part, CsvBuffer& buffer, std::int64_t rows, std::int64_t to,
                           std::vector<CsvTarget>& targets, RowLines& lines, AllRefused& refused) {
  std::string_view text;
  if (part.text) {
    text = std::string_view(*part.text).substr(part.text->size() - 1 - part.bytes, part.bytes);
  } else {
    char* const bytes = buffer.reserve(part.bytes + 1);
    read_part(part, bytes);
    text = {bytes, part.bytes};
  }
  if (part.is_lines && rows == part.rows) {
    convert_lines(text, part, to, targets, lines, refused);
    part = {part.offset + part.bytes, 0, 0, part.line + rows, nullptr};
    return;
  }
  part = convert(text, part, rows, to, targets, lines, refused);
  if (part.rows == 0) {
    part.text = nullptr;
  } else if (!part.text) {
    part.text = std::make_shared<const std::string>(text.data() + (text.size() - part.bytes), part.bytes + 1);
  }
}

/// Writes the first `count` rows of the parts to the targets. The last part then is its rest.
CsvFile::AllRefused CsvFile::fill(std::vector<CsvPart>& parts, std::int64_t count, std::vector<CsvTarget>& targets,
                                  RowLines& lines) {
  AllRefused all(targets.size());
  std::mutex mutex;
  const std::size_t group = source_.is_plain() ? parts.size() : 2 * static_cast<std::size_t>(thread_count());
  std::int64_t row = 0;
  for (std::size_t first = 0; first < parts.size(); first += group) {
    const std::size_t end = std::min(first + group, parts.size());
    std::vector<std::int64_t> starts;
    for (std::size_t i = first; i < end; ++i) {
      starts.push_back(row);
      row += parts[i].rows;
      if (source_.is_plain() || parts[i].text) continue;
      std::string text(parts[i].bytes + 1, '\n');
      read_part(parts[i], text.data());
      parts[i].text = std::make_shared<const std::string>(std::move(text));
    }
    parallel_parts_with<CsvBuffer>(end - first, [&](std::size_t i, CsvBuffer& buffer) {
      CsvPart& part = parts[first + i];
      AllRefused refused(targets.size());
      convert_part(part, buffer, std::min(part.rows, count - starts[i]), starts[i], targets, lines, refused);
      const std::lock_guard<std::mutex> lock(mutex);
      for (std::size_t k = 0; k < all.size(); ++k) all[k].add(refused[k]);
    });
  }
  return all;
}

void CsvFile::fail_refused(const CsvColumn& column, const Refused& refused) const {
  fail<FileError>(where_, "line {}, column \"{}\" must {}", refused.line, column.name, refused.text);
}

RowLines CsvFile::lines_of(std::int64_t first, std::int64_t rows) const {
  RowLines lines{path_, scan_.first_line + first, {}};
  if (!scan_.line_by_line) lines.each.resize(static_cast<std::size_t>(rows));
  return lines;
}

Table CsvFile::table_of(std::vector<std::pair<std::string, Column>> columns, std::int64_t rows, RowLines lines) const {
  Table table(std::move(columns));
  table.rows_ = rows;
  table.lines_ = std::move(lines);
  return table;
}

Table CsvFile::read(std::int64_t count, CsvPosition& from) {
  count = std::min(count, rows() - from.row);
  std::vector<std::size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<CsvTarget> targets = targets_of(all, count);
  RowLines lines = lines_of(from.row, count);
  CsvPosition end = from;
  std::vector<CsvPart> parts = next_parts(scan_.parts, count, end);
  const AllRefused refused = fill(parts, count, targets, lines);
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (refused[i].line > 0) fail_refused(columns_[i], refused[i]);
  }
  if (!parts.empty() && parts.back().rows > 0) end.begun = std::move(parts.back());
  end.row += count;
  from = std::move(end);
  std::vector<std::pair<std::string, Column>> columns;
  for (CsvTarget& target : targets) columns.emplace_back(target.column().name, target.finish());
  return table_of(std::move(columns), count, std::move(lines));
}

Table CsvFile::read_all() {
  std::vector<std::pair<std::string, Column>> columns(columns_.size());
  std::vector<std::size_t> open(columns_.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  RowLines lines = lines_of(0, rows());
  do {
    std::vector<CsvTarget> targets = targets_of(open, rows());
    std::vector<CsvPart> parts = scan_.parts;
    const AllRefused refused = fill(parts, rows(), targets, lines);
    std::vector<std::size_t> again;
    std::vector<std::pair<std::size_t, CsvTarget*>> done;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::size_t place = open[i];
      const std::string type = scan_.seen[place].type().name();
      scan_.seen[place].add(refused[i].seen);
      if (refused[i].line == 0) {
        done.emplace_back(place, &targets[i]);
      } else if (scan_.seen[place].type().name() == type) {
        fail_refused(columns_[place], refused[i]);
      } else {
        again.push_back(place);
      }
    }
    parallel_parts(done.size(), [&](std::size_t i) {
      const auto [place, target] = done[i];
      columns[place] = {columns_[place].name, target->finish()};
    });
    open = std::move(again);
  } while (!open.empty());
  return table_of(std::move(columns), rows(), std::move(lines));
}

}  // namespace mezzo::detail
