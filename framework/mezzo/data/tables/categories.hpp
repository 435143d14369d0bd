#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Texts in the order of categories: by value if all are numbers, else by their bytes.
std::vector<std::string> in_category_order(const std::set<std::string>& texts);

/// The different texts that aren't missing, in the order of categories. `isna`: bool, true where a text is missing.
std::vector<std::string> sorted_categories(const std::vector<std::string>& texts, const std::optional<Tensor>& isna);

/// Number of each text among the sorted categories, int64; -1: missing.
Tensor codes_of(const std::vector<std::string>& texts, const std::optional<Tensor>& isna);

}  // namespace mezzo::detail
