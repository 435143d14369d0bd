#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/data/tables/csv_numbers.hpp>
#include <mezzo/data/tables/read_csv_options.hpp>

namespace mezzo::detail {

/// A small set of texts.
class TextSet {
 public:
  void add(const std::string& text);
  bool contains(std::string_view text) const;

 private:
  std::vector<std::string> texts_;
  std::array<bool, 256> first_{};  // first bytes of the texts
  std::size_t longest_ = 0;
  bool empty_text_ = false;
};

/// Form of the text of a table.
struct CsvDialect {
  char sep = ',';
  std::optional<char> quote, comment;
  bool skip_space = false;
  CsvNumberFormat numbers;
  TextSet missing, true_texts, false_texts;
  std::vector<double> missing_numbers;
  std::array<bool, 256> stops{};  ///< characters that may end a field without quotes

  void set_sep(char character);
};

/// The dialect of options; `sep` of "auto" is a comma. Throws a ValueError that starts with `where` if a character is
/// not one, is a line end, or has two meanings.
CsvDialect csv_dialect(const ReadCsvOptions& options, const std::string& where);

}  // namespace mezzo::detail
