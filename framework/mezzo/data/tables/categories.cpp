#include <mezzo/data/tables/categories.hpp>

#include <algorithm>

#include <mezzo/data/tables/csv_numbers.hpp>

namespace mezzo::detail {
namespace {

bool is_missing_in(const std::optional<Tensor>& isna, std::size_t row) { return isna && isna->data<bool>()[row]; }

}  // namespace

std::vector<std::string> in_category_order(const std::set<std::string>& texts) {
  std::vector<std::pair<double, std::string>> sorted;
  bool numbers = true;
  for (const std::string& text : texts) {
    const auto value = parse_float<double>(text, CsvNumberFormat{});
    numbers = numbers && value.has_value();
    sorted.emplace_back(value.value_or(0), text);
  }
  if (numbers) std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> out;
  for (auto& [value, text] : sorted) out.push_back(std::move(text));
  return out;
}

std::vector<std::string> sorted_categories(const std::vector<std::string>& texts, const std::optional<Tensor>& isna) {
  std::set<std::string> different;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!is_missing_in(isna, i)) different.insert(texts[i]);
  }
  return in_category_order(different);
}

Tensor codes_of(const std::vector<std::string>& texts, const std::optional<Tensor>& isna) {
  std::map<std::string, std::int64_t> codes;
  for (const std::string& category : sorted_categories(texts, isna)) {
    codes.emplace(category, static_cast<std::int64_t>(codes.size()));
  }
  Tensor out({static_cast<std::int64_t>(texts.size())}, DType::int64);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out.mutable_data<std::int64_t>()[i] = is_missing_in(isna, i) ? -1 : codes.at(texts[i]);
  }
  return out;
}

}  // namespace mezzo::detail
