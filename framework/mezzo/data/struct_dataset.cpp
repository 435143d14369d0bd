#include <mezzo/data/struct_dataset.hpp>

#include <algorithm>
#include <map>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* struct_dataset_label = "[struct_dataset]";

}  // namespace

void check_rows(std::size_t rows) {
  if (rows == 0) fail<ValueError>(struct_dataset_label, "there must be at least 1 row; got none");
}

void check_struct_field(const std::string& name, bool empty) {
  if (name.empty()) fail<ValueError>(struct_dataset_label, "a field must have a name; got \"\"");
  if (empty) {
    fail<ValueError>(struct_dataset_label, "field \"{}\" must have a member or a function; got an empty one", name);
  }
}

void StructColumn::check_length(std::int64_t expected, std::size_t given) const {
  if (static_cast<std::size_t>(expected) == given) return;
  fail<ShapeError>(struct_dataset_label, "row {}: field \"{}\" must have {} elements, as the first one; got {}", row_,
                   name_, expected, given);
}

void StructColumn::check_categories(const std::vector<std::string>& categories) const {
  if (categories.empty()) return;
  fail<ValueError>(struct_dataset_label, "field \"{}\" must have strings to have categories; it has numbers", name_);
}

void StructColumn::fail_large(std::uint64_t value) const {
  fail<ValueError>(struct_dataset_label, "row {}: field \"{}\" must be below 2^63; got {}", row_, name_, value);
}

Tensor category_codes(const std::string& field, const std::vector<std::string>& texts,
                      std::vector<std::string> categories) {
  if (categories.empty()) {
    categories = texts;
    std::sort(categories.begin(), categories.end());
    categories.erase(std::unique(categories.begin(), categories.end()), categories.end());
  }
  std::map<std::string, std::int64_t> codes;
  for (const std::string& category : categories) {
    if (!codes.emplace(category, static_cast<std::int64_t>(codes.size())).second) {
      fail<ValueError>(struct_dataset_label, "categories of field \"{}\" must differ; got \"{}\" twice", field,
                       category);
    }
  }
  Tensor out = Tensor::uninitialized({static_cast<std::int64_t>(texts.size())}, DType::int64);
  auto* to = out.mutable_data<std::int64_t>();
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const auto found = codes.find(texts[row]);
    if (found == codes.end()) {
      fail<ValueError>(struct_dataset_label, "row {}: field \"{}\" must be one of {}; got \"{}\"", row, field,
                       fmt::join(categories, ", "), texts[row]);
    }
    to[row] = found->second;
  }
  return out;
}

}  // namespace mezzo::detail
