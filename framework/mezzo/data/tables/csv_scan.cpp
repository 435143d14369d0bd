#include <mezzo/data/tables/csv_scan.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/csv_records.hpp>
#include <mezzo/data/tables/csv_split.hpp>
#include <mezzo/data/tables/parallel_parts.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t scan_part_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_record = std::size_t{64} << 20;

/// Content of one part, with lines from 0.
struct PartScan {
  std::int64_t rows = 0, lines = 0;
  std::int64_t first_line = -1;
  bool line_by_line = true;
  std::size_t end = 0;  // behind the last row that counts
  std::vector<CsvSeen> seen;
  bool unclosed = false;
  std::size_t wrong_fields = 0;  // of the record on `wrong_line`; 0: none
  std::int64_t wrong_line = 0;
};

class Scan {
 public:
  Scan(CsvSource& source, const CsvDialect& dialect, const CsvHead& head, const std::vector<CsvColumn>& columns,
       std::optional<std::int64_t> nrows, bool all_rows, const std::string& where)
      : source_(source),
        dialect_(dialect),
        head_(head),
        columns_(columns),
        nrows_(nrows),
        all_rows_(all_rows),
        where_(where) {
    out_.seen.resize(columns.size());
    line_ = head.line;
  }

  CsvScan run() {
    std::uint64_t offset = head_.offset;  // of the text in the buffer
    std::string buffer;
    std::size_t block = scan_part_bytes;
    bool last = false;
    while (!last && !enough()) {
      const std::size_t kept = buffer.size();
      const std::uint64_t left = source_.at_most() - std::min(source_.at_most(), offset + kept);
      buffer.resize(kept + static_cast<std::size_t>(std::min<std::uint64_t>(block, left + 1)) + 1);
      const std::size_t wanted = buffer.size() - 1 - kept;
      const std::size_t got = source_.read(offset + kept, buffer.data() + kept, wanted);
      last = got < wanted;
      buffer.resize(kept + got);
      buffer += '\n';
      const std::string_view text(buffer.data(), kept + got);
      const std::vector<std::size_t> ends = split_records(text, dialect_, scan_part_bytes, last);
      add_parts(text, ends, offset);
      const std::size_t used = ends.empty() ? 0 : ends.back();
      if (used == 0 && text.size() > longest_record) {
        fail<FileError>(where_, "line {} must begin a record of at most {} bytes; got more", line_, longest_record);
      }
      buffer.pop_back();
      buffer.erase(0, used);
      offset += used;
      block = std::min(2 * block, 4 * scan_part_bytes * static_cast<std::size_t>(thread_count()));
    }
    return std::move(out_);
  }

 private:
  bool enough() const { return nrows_ && out_.rows >= *nrows_; }

  void add_parts(std::string_view text, const std::vector<std::size_t>& ends, std::uint64_t offset) {
    std::vector<PartScan> scans(ends.size());
    const auto part = [&](std::size_t i) {
      const std::size_t begin = i == 0 ? 0 : ends[i - 1];
      return text.substr(begin, ends[i] - begin);
    };
    constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();
    const bool counted = !all_rows_ && out_.rows > 0;
    if (!nrows_) {
      parallel_parts(ends.size(), [&](std::size_t i) {
        if (!counted || !count_plain_rows(part(i), scans[i])) scan(part(i), unlimited, !counted, scans[i]);
      });
    }
    for (std::size_t i = 0; i < ends.size() && !enough(); ++i) {
      if (nrows_) scan(part(i), *nrows_ - out_.rows, true, scans[i]);
      add(scans[i], offset + (i == 0 ? 0 : ends[i - 1]));
    }
  }

  /// scan() of the rows alone, for a part without quotes and comments. False if the part has anything unusual.
  bool count_plain_rows(std::string_view text, PartScan& out) const {
    for (const auto& special : {dialect_.quote, dialect_.comment, std::optional<char>('\r')}) {
      if (special && text.find(*special) != std::string_view::npos) return false;
    }
    const std::ptrdiff_t wanted = static_cast<std::ptrdiff_t>(head_.names.size()) - 1;
    PartScan rows;
    for (std::size_t begin = 0; begin < text.size(); ++rows.rows) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const char first = text[begin];
      if (first == '\n' || first == ' ' || first == '\t') return false;
      if (std::count(text.data() + begin, text.data() + end, dialect_.sep) != wanted) return false;
      begin = end + 1;
    }
    rows.first_line = 0;
    rows.end = text.size();
    rows.lines = rows.rows;
    out = std::move(rows);
    return true;
  }

  /// Goes over the first `most` rows of a part; with `see_all` also over their values.
  void scan(std::string_view text, std::int64_t most, bool see_all, PartScan& out) const {
    out.seen.resize(columns_.size());
    CsvRecords records(text, dialect_, 0);
    while (out.rows < most && records.next()) {
      const auto& fields = records.fields();
      if (fields.size() != head_.names.size()) {
        out.wrong_fields = fields.size();
        out.wrong_line = records.line();
        return;
      }
      if (out.first_line < 0) out.first_line = records.line();
      out.line_by_line = out.line_by_line && records.line() == out.first_line + out.rows;
      for (std::size_t i = 0; see_all && i < columns_.size(); ++i)
        see(columns_[i], fields[columns_[i].field], out.seen[i]);
      ++out.rows;
    }
    if (records.unclosed()) {
      out.unclosed = true;
      out.wrong_line = records.line();
    }
    out.end = records.position();
    out.lines = records.next_line();
  }

  void see(const CsvColumn& column, std::string_view field, CsvSeen& seen) const {
    if (!column.given) {
      seen.add(field, dialect_);
    } else if (column.given->kind() == ColumnType::Kind::categories && !is_missing_field(field, dialect_)) {
      if (seen.texts.find(std::string(field)) == seen.texts.end()) seen.texts.emplace(field);
    }
  }

  void add(const PartScan& part, std::uint64_t offset) {
    if (part.unclosed) fail_unclosed(line_ + part.wrong_line, where_);
    if (part.wrong_fields > 0) {
      fail<FileError>(where_, "line {} must have {} fields, as line {} has; got {}", line_ + part.wrong_line,
                      head_.names.size(), head_.names_line, part.wrong_fields);
    }
    if (part.rows > 0) {
      const std::int64_t first = line_ + part.first_line;
      if (out_.rows == 0) out_.first_line = first;
      out_.line_by_line = out_.line_by_line && part.line_by_line && first == out_.first_line + out_.rows;
      out_.parts.push_back({offset, part.end, part.rows, line_, nullptr});
    }
    out_.rows += part.rows;
    line_ += part.lines;
    for (std::size_t i = 0; i < part.seen.size(); ++i) out_.seen[i].add(part.seen[i]);
  }

  CsvSource& source_;
  const CsvDialect& dialect_;
  const CsvHead& head_;
  const std::vector<CsvColumn>& columns_;
  const std::optional<std::int64_t> nrows_;
  const bool all_rows_;
  const std::string& where_;
  CsvScan out_;
  std::int64_t line_ = 1;
};

}  // namespace

CsvScan scan_csv(CsvSource& source, const CsvDialect& dialect, const CsvHead& head,
                 const std::vector<CsvColumn>& columns, std::optional<std::int64_t> nrows, bool all_rows,
                 const std::string& where) {
  return Scan(source, dialect, head, columns, nrows, all_rows, where).run();
}

}  // namespace mezzo::detail
