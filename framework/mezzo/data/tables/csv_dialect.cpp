#include <mezzo/data/tables/csv_dialect.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

// The texts of pandas' read_csv.
constexpr const char* missing_texts[] = {"",     "#N/A", "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
                                         "-nan", "<NA>", "1.#IND",   "N/A",  "1.#QNAN", "NA",       "NULL",
                                         "NaN",  "None", "n/a",      "null", "nan"};

std::optional<char> one_character(const std::string& text, const char* option, const std::string& where,
                                  bool may_be_empty) {
  if (text.empty() && may_be_empty) return std::nullopt;
  if (text.size() != 1 || text[0] == '\n' || text[0] == '\r') {
    fail<ValueError>(where, "{} must be one character, no line end; got \"{}\"", option, text);
  }
  return text[0];
}

bool is_of_numbers(std::string_view option) { return option == "decimal" || option == "thousands"; }

void check_differ(const CsvDialect& dialect, bool sep_given, const std::string& where) {
  std::vector<std::pair<const char*, char>> used;
  if (sep_given) used.emplace_back("sep", dialect.sep);
  if (dialect.quote) used.emplace_back("quotechar", *dialect.quote);
  if (dialect.comment) used.emplace_back("comment", *dialect.comment);
  used.emplace_back("decimal", dialect.numbers.decimal);
  if (dialect.numbers.thousands) used.emplace_back("thousands", *dialect.numbers.thousands);
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (used[i].second != used[k].second) continue;
      // Numbers in quotes may have the separator: "1,5".
      if (dialect.quote && sep_given && k == 0 && is_of_numbers(used[i].first)) continue;
      fail<ValueError>(where, "{} and {} must differ; got \"{}\" for both", used[k].first, used[i].first,
                       std::string_view(&used[i].second, 1));
    }
  }
}

/// Throws a ValueError for a character that numbers have with another meaning.
void check_of_numbers(const char* option, char given, const std::string& where) {
  constexpr std::string_view others = "+-0123456789eE";
  if (others.find(given) == std::string_view::npos) return;
  fail<ValueError>(where, "{} must be no digit, sign or \"e\"; got \"{}\"", option, std::string_view(&given, 1));
}

}  // namespace

void TextSet::add(const std::string& text) {
  if (text.empty()) {
    empty_text_ = true;
    return;
  }
  texts_.push_back(text);
  first_[static_cast<unsigned char>(text[0])] = true;
  longest_ = std::max(longest_, text.size());
}

bool TextSet::contains(std::string_view text) const {
  if (text.empty()) return empty_text_;
  if (text.size() > longest_ || !first_[static_cast<unsigned char>(text[0])]) return false;
  return std::find(texts_.begin(), texts_.end(), text) != texts_.end();
}

void CsvDialect::set_sep(char character) {
  sep = character;
  stops = {};
  for (const char c : {sep, '\n', '\r', comment.value_or('\n')}) stops[static_cast<unsigned char>(c)] = true;
}

CsvDialect csv_dialect(const ReadCsvOptions& options, const std::string& where) {
  CsvDialect dialect;
  dialect.quote = one_character(options.quotechar, "quotechar", where, true);
  dialect.comment = one_character(options.comment, "comment", where, true);
  dialect.numbers.decimal = *one_character(options.decimal, "decimal", where, false);
  dialect.numbers.thousands = one_character(options.thousands, "thousands", where, true);
  dialect.skip_space = options.skipinitialspace;
  const bool sniffed = options.sep == "auto";
  dialect.set_sep(sniffed ? ',' : *one_character(options.sep, "sep", where, false));
  check_differ(dialect, !sniffed, where);
  check_of_numbers("decimal", dialect.numbers.decimal, where);
  if (dialect.numbers.thousands) check_of_numbers("thousands", *dialect.numbers.thousands, where);
  if (options.keep_default_na) {
    for (const char* text : missing_texts) dialect.missing.add(text);
  }
  for (const std::string& text : options.na_values) {
    dialect.missing.add(text);
    if (const auto number = parse_float<double>(text, {})) dialect.missing_numbers.push_back(*number);
  }
  for (const char* text : {"True", "TRUE", "true"}) dialect.true_texts.add(text);
  for (const char* text : {"False", "FALSE", "false"}) dialect.false_texts.add(text);
  for (const std::string& text : options.true_values) dialect.true_texts.add(text);
  for (const std::string& text : options.false_values) dialect.false_texts.add(text);
  return dialect;
}

}  // namespace mezzo::detail
