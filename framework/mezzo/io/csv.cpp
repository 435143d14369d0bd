#include <mezzo/io/csv.hpp>

#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/file_replacement.hpp>

namespace mezzo {
namespace {

void check_delimiter(char delimiter, const std::string& where) {
  const bool in_numbers = (delimiter >= '0' && delimiter <= '9') || (delimiter >= 'a' && delimiter <= 'z') ||
                          (delimiter >= 'A' && delimiter <= 'Z');
  if (in_numbers || std::string_view("+-.\n\r").find(delimiter) != std::string_view::npos) {
    fail<ValueError>(where, "delimiter must be a character that numbers and line ends don't have; got {:?}",
                     std::string_view(&delimiter, 1));
  }
}

/// Throws a ValueError unless the header is one line with as many fields as the rows have.
void check_header(const SaveCsvOptions& options, std::int64_t columns, const std::string& where) {
  if (options.header.empty()) return;
  std::int64_t fields = 1;
  bool quoted = false;
  for (const char c : options.header) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == options.delimiter) ++fields;
    if (c == '\n' || c == '\r') fail<ValueError>(where, "header must be one line; got {:?}", options.header);
  }
  if (fields == columns && !quoted) return;
  fail<ValueError>(where, "header must have {} fields, as the rows have; got {} in {:?}", columns, fields,
                   options.header);
}

/// Appends the shortest text that is read as x.
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

}  // namespace

void save_csv(const std::string& path, const Tensor& tensor, const SaveCsvOptions& options) {
  const std::string where = fmt::format("[save_csv \"{}\"]", path);
  detail::check_suffix(path, detail::FileKind::table, where, ".csv, or have a suffix of its own");
  check_delimiter(options.delimiter, where);
  const std::size_t rank = tensor.shape().size();
  if (rank != 1 && rank != 2) fail<ShapeError>(where, "the tensor must have rank 1 or 2; got {}", tensor);
  const std::int64_t rows = tensor.shape()[0], columns = rank == 1 ? 1 : tensor.shape()[1];
  check_header(options, columns, where);
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
