#include <mezzo/data/tables/table.hpp>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/data/tables/number_casts.hpp>

namespace mezzo {
namespace {

const char* const table_where = "[Table]";

}  // namespace

Table::Table(std::vector<std::pair<std::string, Column>> columns) {
  std::set<std::string> once;
  for (auto& entry : columns) {
    const std::string& name = entry.first;
    const std::int64_t size = entry.second.size();
    if (!once.insert(name).second) {
      fail<ValueError>(table_where, "names of columns must differ; got \"{}\" twice", name);
    }
    if (columns_.empty()) rows_ = size;
    if (size != rows_) {
      fail<ShapeError>(table_where, "column \"{}\" must have {} rows, as \"{}\" has; got {}", name, rows_, names_[0],
                       size);
    }
    names_.push_back(name);
    columns_.push_back(std::move(entry.second));
  }
}

bool Table::contains(const std::string& column) const {
  return std::find(names_.begin(), names_.end(), column) != names_.end();
}

const Column& Table::operator[](const std::string& column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) fail_unknown(table_where, "column", column, names_);
  return columns_[static_cast<std::size_t>(found - names_.begin())];
}

Table Table::select(const std::vector<std::string>& columns) const {
  std::vector<std::pair<std::string, Column>> chosen;
  for (const std::string& name : columns) chosen.emplace_back(name, (*this)[name]);
  Table out(std::move(chosen));
  out.rows_ = rows_;
  out.lines_ = lines_;
  return out;
}

Table Table::assign(const std::string& name, const Column& column) const {
  Table out = *this;
  if (names_.empty()) out.rows_ = column.size();
  if (column.size() != out.rows_) {
    fail<ShapeError>(table_where, "column \"{}\" must have {} rows; got {}", name, out.rows_, column.size());
  }
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) {
    out.columns_[static_cast<std::size_t>(found - names_.begin())] = column;
  } else {
    out.names_.push_back(name);
    out.columns_.push_back(column);
  }
  return out;
}

Table Table::range(std::int64_t begin, std::int64_t end) const {
  if (begin < 0 || begin > end || end > rows_) {
    fail<ValueError>(table_where, "rows must satisfy 0 <= begin <= end <= {}; got begin {}, end {}", rows_, begin, end);
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return take(rows);
}

Table Table::take(const std::vector<std::int64_t>& rows) const {
  Table out;
  out.names_ = names_;
  out.rows_ = static_cast<std::int64_t>(rows.size());
  out.lines_.file = lines_.file;
  for (const std::int64_t row : rows) out.lines_.each.push_back(line(row));
  for (const Column& column : columns_) out.columns_.push_back(column.take(rows));
  return out;
}

Table Table::dropna(const std::vector<std::string>& columns) const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(rows_));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  for (const std::string& name : columns.empty() ? names_ : columns) {
    const Column& column = (*this)[name];
    const auto is_missing = [&](std::int64_t row) { return column.is_missing(row); };
    rows.erase(std::remove_if(rows.begin(), rows.end(), is_missing), rows.end());
  }
  return take(rows);
}

Table Table::fillna(const std::map<std::string, detail::FillValue>& values) const {
  Table out = *this;
  for (const auto& [name, value] : values) out = out.assign(name, (*this)[name].fillna(value));
  return out;
}

Tensor Table::to_tensor(const std::vector<std::string>& columns, DType dtype) const {
  const std::vector<std::string>& names = columns.empty() ? names_ : columns;
  const auto width = static_cast<std::int64_t>(names.size());
  Tensor out = Tensor::uninitialized({rows_, width}, dtype);
  for (std::int64_t place = 0; place < width; ++place) {
    const std::string& name = names[static_cast<std::size_t>(place)];
    const Column& column = (*this)[name];
    if (column.type() == "str" || column.type() == "category") {
      fail<DTypeError>(table_where, "column \"{}\" must have numbers; got {}", name, column.type());
    }
    visit_dtype(column.values().dtype(), [&](auto from_zero) {
      visit_dtype(dtype, [&](auto to_zero) {
        using To = decltype(to_zero);
        const auto* from = column.values().data<decltype(from_zero)>();
        To* to = out.mutable_data<To>() + place;
        for (std::int64_t row = 0; row < rows_; ++row) {
          const bool missing = column.is_missing(row);
          std::optional<To> value;
          if (!missing) value = detail::held_as<To>(from[row]);
          if constexpr (!std::is_integral_v<To>) {
            if (missing) value = static_cast<To>(std::numeric_limits<float>::quiet_NaN());
          }
          if (!value) {
            fail<ValueError>(table_where, "{}, column \"{}\" must be a number that fits {}; {}", describe_row(row),
                             name, dtype, missing ? "the value is missing" : "got " + column.text(row));
          }
          to[row * width] = *value;
        }
      });
    });
  }
  return out;
}

std::int64_t Table::line(std::int64_t row) const {
  if (row < 0 || row >= rows_) fail<ValueError>(table_where, "a row must lie in [0, {}); got {}", rows_, row);
  if (!lines_.each.empty()) return lines_.each[static_cast<std::size_t>(row)];
  return lines_.file.empty() ? 0 : lines_.first + row;
}

std::string Table::describe_row(std::int64_t row) const {
  const std::int64_t at = line(row);
  return at == 0 ? fmt::format("row {}", row) : fmt::format("row {} (line {} of \"{}\")", row, at, lines_.file);
}

std::ostream& operator<<(std::ostream& out, const Table& table) {
  constexpr std::int64_t shown = 5;
  constexpr std::size_t widest = 40;
  std::vector<detail::TextColumn> titles{{"column"}, {"type"}, {"missing", true}};
  const std::int64_t rows = std::min(table.rows(), shown);
  for (std::int64_t row = 0; row < rows; ++row) titles.push_back({fmt::format("row {}", row), true});
  std::vector<std::vector<std::string>> cells;
  for (const std::string& name : table.columns()) {
    const Column& column = table[name];
    cells.push_back({detail::one_line(name), column.type(), fmt::format("{}", column.missing())});
    for (std::int64_t row = 0; row < rows; ++row) {
      std::string text = detail::one_line(column.text(row));
      if (text.size() > widest) text = text.substr(0, widest - 3) + "...";
      cells.back().push_back(column.is_missing(row) ? "-" : std::move(text));
    }
  }
  out << "Table of " << table.rows() << " rows, " << table.columns().size() << " columns\n";
  for (const std::string& line : detail::table_lines(titles, cells)) out << line << '\n';
  return out;
}

}  // namespace mezzo
