#include <mezzo/data/tables/csv_scan.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/csv_buffer.hpp>
#include <mezzo/data/tables/csv_records.hpp>
#include <mezzo/data/tables/csv_split.hpp>
#include <mezzo/data/tables/parallel_parts.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t scan_part_bytes = std::size_t{1} << 20;
constexpr std::size_t least_parts = 16;  // of a block: threads wait for each other at its end
constexpr std::size_t longest_record = std::size_t{64} << 20;

/// Content of one part, with lines from 0.
struct PartScan {
  std::int64_t rows = 0, lines = 0;
  std::int64_t first_line = -1;
  bool line_by_line = true;
  bool is_lines = false;
  std::size_t end = 0;  // behind the last row that counts
  std::vector<CsvSeen> seen;
  bool unclosed = false;
  std::size_t wrong_fields = 0;  // of the record on `wrong_line`; 0: none
  std::int64_t wrong_line = 0;
};

/// Number of times that a character occurs.
std::size_t count_of(std::string_view text, char character) {
  constexpr std::size_t block = 64;  // counted in bytes, which the compiler vectorizes
  std::size_t count = 0, at = 0;
  for (; at + block <= text.size(); at += block) {
    std::uint8_t found = 0;
    for (std::size_t i = 0; i < block; ++i)
      found = static_cast<std::uint8_t>(found + (text[at + i] == character ? 1 : 0));
    count += found;
  }
  for (; at < text.size(); ++at) count += text[at] == character ? 1 : 0;
  return count;
}

bool is_of_numbers(char character) {
  return std::string_view("+-.0123456789eE").find(character) != std::string_view::npos;
}

class Scan {
 public:
  Scan(CsvSource& source, const CsvDialect& dialect, const CsvHead& head, const std::vector<CsvColumn>& columns,
       std::optional<std::int64_t> nrows, bool all_rows, const std::string& where)
      : source_(source),
        dialect_(dialect),
        without_quotes_(dialect),
        head_(head),
        columns_(columns),
        nrows_(nrows),
        all_rows_(all_rows),
        where_(where) {
    without_quotes_.quote.reset();
    out_.seen.resize(columns.size());
    line_ = head.line;
  }

  CsvScan run() {
    std::uint64_t offset = head_.offset;  // of the text in the buffer
    CsvBuffer buffer;
    std::size_t kept = 0, block = scan_part_bytes;
    bool last = false;
    bool may_be_counted = source_.is_plain() && !all_rows_ && !nrows_;
    while (!last && !enough()) {
      if (out_.rows > 0 && may_be_counted) {
        offset = add_plain_slices(offset);
        kept = 0;
        may_be_counted = false;
      }
      const std::uint64_t left = source_.at_most() - std::min(source_.at_most(), offset + kept);
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(block, left + 1));
      char* const bytes = buffer.reserve(kept + wanted + 1, kept);
      bool quoted = has_quote({bytes, kept});
      const std::size_t got = read(offset + kept, bytes + kept, wanted, quoted);
      last = got < wanted;
      bytes[kept + got] = '\n';
      const std::string_view text(bytes, kept + got);
      const std::vector<std::size_t> ends =
          split_records(text, quoted ? dialect_ : without_quotes_, scan_part_bytes, last);
      add_parts(text, ends, offset, quoted);
      const std::size_t used = ends.empty() ? 0 : ends.back();
      if (used == 0 && text.size() > longest_record) {
        fail<FileError>(where_, "line {} must begin a record of at most {} bytes; got more", line_, longest_record);
      }
      kept = text.size() - used;
      std::memmove(bytes, bytes + used, kept);
      offset += used;
      block =
          std::min(2 * block, scan_part_bytes * std::max(least_parts, 4 * static_cast<std::size_t>(thread_count())));
    }
    return std::move(out_);
  }

 private:
  bool enough() const { return nrows_ && out_.rows >= *nrows_; }

  bool has_quote(std::string_view text) const {
    return dialect_.quote && text.find(*dialect_.quote) != std::string_view::npos;
  }

  /// Reads the next bytes. Sets `quoted` if they have a quote.
  std::size_t read(std::uint64_t offset, char* to, std::size_t count, bool& quoted) {
    const std::size_t slice = source_.is_plain() ? scan_part_bytes : count;
    std::atomic<std::size_t> got{0};
    std::atomic<bool> found{false};
    parallel_parts((count + slice - 1) / slice, [&](std::size_t i) {
      const std::size_t begin = i * slice;
      const std::size_t bytes = source_.read(offset + begin, to + begin, std::min(slice, count - begin));
      if (has_quote({to + begin, bytes})) found = true;
      got += bytes;
    });
    quoted = quoted || found;
    return got;
  }

  /// Counts the rows of the whole file at once, in slices whose records are found by their line ends, up to the first
  /// slice that isn't plain. Returns the position behind the last row.
  std::uint64_t add_plain_slices(std::uint64_t offset) {
    const std::uint64_t size = source_.at_most();
    const auto count =
        static_cast<std::size_t>((size - std::min(size, offset) + scan_part_bytes - 1) / scan_part_bytes);
    std::vector<PartScan> scans(count);
    std::vector<std::uint64_t> begins(count);
    std::atomic<std::size_t> plain{count};
    parallel_parts_with<CsvBuffer>(count, [&](std::size_t i, CsvBuffer& buffer) {
      if (i < plain && count_slice(offset, i, buffer, scans[i], begins[i])) return;
      for (std::size_t before = plain; i < before && !plain.compare_exchange_weak(before, i);) continue;
    });
    for (std::size_t i = 0; i < plain; ++i) {
      add(scans[i], begins[i]);
      offset = begins[i] + scans[i].end;
    }
    return offset;
  }

  /// Counts the rows that begin in slice i behind `offset`. False if it has anything unusual, such as a quote.
  bool count_slice(std::uint64_t offset, std::size_t i, CsvBuffer& buffer, PartScan& out, std::uint64_t& begin) {
    constexpr std::size_t longest_end = std::size_t{1} << 16;  // of a record that goes on behind the slice
    begin = offset + i * scan_part_bytes - (i == 0 ? 0 : 1);
    const std::size_t slice = scan_part_bytes + (i == 0 ? 0 : 1), wanted = slice + longest_end;
    char* const bytes = buffer.reserve(wanted + 1);
    const std::size_t got = source_.read(begin, bytes, wanted);
    bytes[got] = '\n';
    std::string_view text(bytes, got);
    if (got > slice || begin + got < source_.at_most()) {
      const std::size_t line_end = text.find('\n', slice - 1);
      if (line_end == std::string_view::npos) return false;
      text = text.substr(0, line_end + 1);
    }
    if (i > 0) {
      const std::size_t skipped = text.find('\n') + 1;  // the record of the slice before
      if (skipped == 0 || skipped == text.size()) return false;
      text.remove_prefix(skipped);
      begin += skipped;
    }
    return !has_quote(text) && count_plain_rows(text, out);
  }

  void add_parts(std::string_view text, const std::vector<std::size_t>& ends, std::uint64_t offset, bool quoted) {
    std::vector<PartScan> scans(ends.size());
    const auto part = [&](std::size_t i) {
      const std::size_t begin = i == 0 ? 0 : ends[i - 1];
      return text.substr(begin, ends[i] - begin);
    };
    constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();
    const bool counted = !all_rows_ && out_.rows > 0;
    if (!nrows_) {
      parallel_parts(ends.size(), [&](std::size_t i) {
        if (!counted || quoted || !count_plain_rows(part(i), scans[i])) scan(part(i), unlimited, !counted, scans[i]);
      });
    }
    for (std::size_t i = 0; i < ends.size() && !enough(); ++i) {
      if (nrows_) scan(part(i), *nrows_ - out_.rows, true, scans[i]);
      add(scans[i], offset + (i == 0 ? 0 : ends[i - 1]));
    }
  }

  /// scan() of the rows alone, for a part without quotes and comments. False if the part has anything unusual.
  bool count_plain_rows(std::string_view text, PartScan& out) const {
    for (const auto& special : {dialect_.comment, std::optional<char>('\r')}) {
      if (special && text.find(*special) != std::string_view::npos) return false;
    }
    const std::size_t wanted = head_.names.size() - 1;
    PartScan rows;
    for (std::size_t begin = 0; begin < text.size(); ++rows.rows) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const char first = text[begin];
      if (first == '\n' || first == ' ' || first == '\t') return false;
      if (count_of(text.substr(begin, end - begin), dialect_.sep) != wanted) return false;
      begin = end + 1;
    }
    rows.first_line = 0;
    rows.end = text.size();
    rows.lines = rows.rows;
    rows.is_lines = !dialect_.skip_space && !is_of_numbers(dialect_.sep);
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
      out_.parts.push_back({offset, part.end, part.rows, line_, nullptr, part.is_lines});
    }
    out_.rows += part.rows;
    line_ += part.lines;
    for (std::size_t i = 0; i < part.seen.size(); ++i) out_.seen[i].add(part.seen[i]);
  }

  CsvSource& source_;
  const CsvDialect& dialect_;
  CsvDialect without_quotes_;
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
