#include <mezzo/io/csv_columns.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/file_replacement.hpp>

namespace mezzo {
namespace {

constexpr std::uint64_t file_limit = std::uint64_t{4} << 30;

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

void check_delimiter(char delimiter, const std::string& where) {
  const bool in_numbers = (delimiter >= '0' && delimiter <= '9') || (delimiter >= 'a' && delimiter <= 'z') ||
                          (delimiter >= 'A' && delimiter <= 'Z');
  if (in_numbers || std::string_view("+-.\n\r").find(delimiter) != std::string_view::npos) {
    fail<ValueError>(where, "delimiter must be a character that numbers and line ends don't have; got {:?}",
                     std::string_view(&delimiter, 1));
  }
}

/// The whole text as a number of type T, or nullopt.
template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);  // std::from_chars takes none
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A field as an element of type T, or nullopt if it isn't one.
template <class T>
std::optional<T> element(std::string_view field) {
  if constexpr (std::is_same_v<T, bool>) {
    if (field != "0" && field != "1") return std::nullopt;
    return field == "1";
  } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) {
    return parse<T>(field);
  } else {
    if constexpr (std::is_same_v<T, float>) {
      if (const auto value = parse<float>(field)) return value;
    }
    // 16-bit floats, and floats that are out of range for std::from_chars: small ones become 0.
    const auto wide = parse<double>(field);
    if (!wide) return std::nullopt;
    const T value = convert<T>(*wide);
    if (std::isinf(static_cast<float>(value)) && !std::isinf(*wide)) return std::nullopt;
    return value;
  }
}

/// The same, where integers may have a fraction of zeros: "1.0".
template <class T>
std::optional<T> whole_element(std::string_view field) {
  if (const auto value = element<T>(field)) return value;
  if constexpr (std::is_integral_v<T>) {
    constexpr double most = 9007199254740992;  // 2^53: larger ones were rounded
    const auto wide = parse<double>(field);
    if (!wide || std::abs(*wide) > most) return std::nullopt;
    const T value = static_cast<T>(std::clamp(*wide, static_cast<double>(std::numeric_limits<T>::min()),
                                              static_cast<double>(std::numeric_limits<T>::max())));
    if (static_cast<double>(value) == *wide) return value;
  }
  return std::nullopt;
}

/// Parser of a table. Collects elements of type T row by row.
template <class T>
class Table {
 public:
  /// `columns`: those to collect, in this order; null: all.
  Table(const LoadCsvOptions& options, const std::string& where, const std::vector<std::size_t>* columns = nullptr)
      : options_(options), where_(where), chosen_(columns) {}

  void read(std::string_view text) {
    if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);  // a byte order mark
    for (std::int64_t line = 1; !text.empty() && rows_ != options_.max_rows; ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (line > options_.skip_rows) read_line(text.substr(0, end), line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  std::int64_t columns() const { return columns_; }

  Tensor tensor() const {
    const Shape shape{rows_, rows_ > 0 && chosen_ != nullptr ? static_cast<std::int64_t>(chosen_->size()) : columns_};
    Tensor out = Tensor::uninitialized(shape, DTypeOf<T>::value);
    std::copy(elements_.begin(), elements_.end(), out.mutable_data<T>());
    return out;
  }

 private:
  void read_line(std::string_view text, std::int64_t line) {
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (!options_.comments.empty()) text = text.substr(0, text.find(options_.comments));
    if (without_spaces(text).empty()) return;
    std::int64_t fields = 0;
    row_.clear();
    while (true) {
      const std::size_t end = std::min(text.find(options_.delimiter), text.size());
      read_field(without_spaces(text.substr(0, end)), line, ++fields);
      if (end == text.size()) break;
      text.remove_prefix(end + 1);
    }
    if (rows_ == 0) {
      columns_ = fields;
      first_line_ = line;
    }
    if (fields != columns_) {
      fail<FileError>(where_, "line {} must have {} fields, as line {} has; got {}", line, columns_, first_line_,
                      fields);
    }
    if (chosen_ == nullptr) {
      elements_.insert(elements_.end(), row_.begin(), row_.end());
    } else {
      for (const std::size_t column : *chosen_) elements_.push_back(column < row_.size() ? row_[column] : T{});
    }
    ++rows_;
  }

  void read_field(std::string_view text, std::int64_t line, std::int64_t number) {
    const bool unused = chosen_ != nullptr && std::find(chosen_->begin(), chosen_->end(),
                                                        static_cast<std::size_t>(number - 1)) == chosen_->end();
    if (unused && element<double>(text)) {
      row_.push_back(T{});
      return;
    }
    const auto value = chosen_ != nullptr ? whole_element<T>(text) : element<T>(text);
    if (!value) {
      fail<FileError>(where_, "line {}, field {} must be a number that fits {}; got \"{}\"", line, number,
                      DTypeOf<T>::value, text.substr(0, 60));
    }
    row_.push_back(*value);
  }

  const LoadCsvOptions& options_;
  const std::string& where_;
  const std::vector<std::size_t>* chosen_;
  std::vector<T> elements_, row_;
  std::int64_t rows_ = 0, columns_ = 0, first_line_ = 0;
};

/// Appends the shortest text that load_csv() reads as x.
template <class T>
void append_element(std::string& text, T x) {
  if constexpr (std::is_same_v<T, bool>) {
    text += x ? '1' : '0';
  } else if constexpr (std::is_class_v<T>) {
    text += fmt::format("{}", static_cast<float>(x));
  } else {
    text += fmt::format("{}", x);
  }
}

detail::CsvColumns load_table(const std::string& path, const LoadCsvOptions& options,
                              const std::vector<std::size_t>* columns, const std::string& where) {
  check_delimiter(options.delimiter, where);
  if (options.skip_rows < 0) fail<ValueError>(where, "skip_rows must be 0 or more; got {}", options.skip_rows);
  if (options.max_rows < -1) fail<ValueError>(where, "max_rows must be -1 or more; got {}", options.max_rows);
  const detail::Bytes bytes = detail::read_file(path, file_limit);
  return visit_dtype(options.dtype, [&](auto zero) {
    Table<decltype(zero)> table(options, where, columns);
    table.read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return detail::CsvColumns{table.tensor(), table.columns()};
  });
}

}  // namespace

Tensor load_csv(const std::string& path, const LoadCsvOptions& options) {
  return load_table(path, options, nullptr, fmt::format("[load_csv \"{}\"]", path)).table;
}

detail::CsvColumns detail::load_csv_columns(const std::string& path, const LoadCsvOptions& options,
                                            const std::vector<std::size_t>& columns, const std::string& where) {
  return load_table(path, options, &columns, where);
}

void save_csv(const std::string& path, const Tensor& tensor, const SaveCsvOptions& options) {
  const std::string where = fmt::format("[save_csv \"{}\"]", path);
  check_delimiter(options.delimiter, where);
  const std::size_t rank = tensor.shape().size();
  if (rank != 1 && rank != 2) fail<ShapeError>(where, "the tensor must have rank 1 or 2; got {}", tensor);
  const std::int64_t rows = tensor.shape()[0], columns = rank == 1 ? 1 : tensor.shape()[1];
  detail::FileReplacement file(path, where);
  std::string line = options.header.empty() ? "" : options.header + "\n";
  visit_dtype(tensor.dtype(), [&](auto zero) {
    const auto* elements = tensor.data<decltype(zero)>();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        if (column > 0) line += options.delimiter;
        append_element(line, elements[row * columns + column]);
      }
      line += '\n';
      if (line.size() < (std::size_t{1} << 16)) continue;
      file.write(line.data(), line.size());
      line.clear();
    }
  });
  file.write(line.data(), line.size());
  file.commit();
}

}  // namespace mezzo
