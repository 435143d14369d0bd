#include <mezzo/data/tables/csv_head.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/csv_records.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t head_bytes = std::size_t{1} << 22;

/// Position behind the first `count` lines, which may have any content.
std::size_t behind_lines(std::string_view text, std::int64_t count) {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count && at < text.size(); ++i) {
    at = std::min(text.find_first_of("\r\n", at), text.size());
    if (at < text.size()) at += text.substr(at, 2) == "\r\n" ? 2 : 1;
  }
  return at;
}

/// The separator that divides the first records into equally many fields, the largest number of them.
char found_sep(std::string_view text, const CsvDialect& dialect) {
  constexpr std::int64_t looked_at = 50;
  std::optional<char> best;
  std::size_t most = 1;
  for (const char sep : {',', ';', '\t', '|'}) {
    const CsvNumberFormat& numbers = dialect.numbers;
    if (dialect.quote == sep || dialect.comment == sep || numbers.decimal == sep || numbers.thousands == sep) continue;
    if (!best) best = sep;
    CsvDialect tried = dialect;
    tried.set_sep(sep);
    CsvRecords records(text, tried, 1);
    std::set<std::size_t> counts;
    for (std::int64_t i = 0; i < looked_at && records.next(); ++i) {
      // A record that touches the end may be cut.
      if (i == 0 || records.position() < text.size()) counts.insert(records.fields().size());
    }
    if (counts.size() == 1 && *counts.begin() > most) {
      best = sep;
      most = *counts.begin();
    }
  }
  return best.value_or(',');
}

/// Makes names differ as pandas does: equal ones become "a", "a.1"; after them, empty ones "Unnamed: 2", in column 2.
std::vector<std::string> different_names(const std::vector<std::string_view>& fields) {
  std::vector<std::string> names;
  std::vector<std::size_t> order, unnamed;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    (fields[i].empty() ? unnamed : order).push_back(i);
    names.push_back(fields[i].empty() ? fmt::format("Unnamed: {}", i) : std::string(fields[i]));
  }
  order.insert(order.end(), unnamed.begin(), unnamed.end());
  const std::set<std::string> used(names.begin(), names.end());
  std::map<std::string, std::int64_t> counts;
  std::set<std::string> taken;
  for (const std::size_t i : order) {
    const std::string name = names[i];
    while (!taken.insert(names[i]).second) {
      do {
        names[i] = fmt::format("{}.{}", name, ++counts[name]);
      } while (used.count(names[i]) > 0);
    }
  }
  return names;
}

void check_names(const std::vector<std::string>& names, const std::string& where) {
  std::set<std::string> once;
  for (const std::string& name : names) {
    if (!once.insert(name).second) fail<ValueError>(where, "names must differ; got \"{}\" twice", name);
  }
}

}  // namespace

void fail_unclosed(std::int64_t line, const std::string& where) {
  fail<FileError>(where, "line {} begins a record with a quote that must end; got the end of the file", line);
}

void check_utf8(std::string_view text, const std::string& where, std::int64_t line, const std::string& column) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* end = p + text.size();
  while (p != end) {
    if (*p < 0x80) {
      ++p;
      continue;
    }
    const CodePoint point = first_code_point({reinterpret_cast<const char*>(p), static_cast<std::size_t>(end - p)});
    if (!point.valid) {
      fail<FileError>(where, "line {}, column \"{}\" must be UTF-8 text; got the byte 0x{:02x}", line, column, *p);
    }
    p += point.bytes;
  }
}

CsvHead read_csv_head(CsvSource& source, const ReadCsvOptions& options, CsvDialect& dialect, const std::string& where) {
  std::string buffer(std::min<std::uint64_t>(head_bytes, source.at_most() + 1), '\0');
  const std::size_t got = source.read(0, buffer.data(), buffer.size());
  const bool whole = got < buffer.size();
  buffer.resize(got);
  buffer += '\n';
  std::string_view text(buffer.data(), buffer.size() - 1);
  if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF") {
    fail<FileError>(where, "must be UTF-8 text; got UTF-16");
  }
  CsvHead head;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") head.offset = 3;
  head.offset += behind_lines(text.substr(head.offset), options.skiprows);
  head.line = 1 + options.skiprows;
  text.remove_prefix(head.offset);
  if (options.sep == "auto") dialect.set_sep(found_sep(text, dialect));
  CsvRecords records(text, dialect, head.line);
  const bool has_header = options.header.inferred() ? options.names.empty() : options.header.record().has_value();
  bool found = true;
  for (std::int64_t i = 0; found && i <= (has_header ? options.header.record().value_or(0) : 0); ++i) {
    found = records.next();
  }
  if (records.unclosed() && whole) fail_unclosed(records.line(), where);
  if (records.unclosed() || (found && !whole && records.position() == text.size())) {
    fail<FileError>(where, "line {} must be a whole record in the first {} bytes; got more", records.line(),
                    head_bytes);
  }
  if (!found && (has_header || options.names.empty())) {
    fail<FileError>(where, "must have a record of {}; got no more records", has_header ? "names" : "fields");
  }
  head.names_line = records.line();
  const std::size_t fields = records.fields().size();
  if (!options.names.empty()) {
    check_names(options.names, where);
    if (found && options.names.size() != fields) {
      fail<FileError>(where, "line {} must have {} fields, as many as names; got {}", records.line(),
                      options.names.size(), fields);
    }
    head.names = options.names;
  } else if (has_header) {
    for (const std::string_view field : records.fields()) check_utf8(field, where, records.line(), std::string(field));
    head.names = different_names(records.fields());
  } else {
    for (std::size_t i = 0; i < fields; ++i) head.names.push_back(fmt::format("{}", i));
  }
  if (has_header) {
    head.offset += records.position();
    head.line = records.next_line();
  }
  return head;
}

}  // namespace mezzo::detail
