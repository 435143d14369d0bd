#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Levenshtein distance of two texts: insertions, removals and replacements of bytes.
MEZZO_API std::size_t edit_distance(const std::string& a, const std::string& b);

/// The first name with the smallest distance to `name`, of which the first 64 bytes count; "" if there are no names.
MEZZO_API std::string nearest_name(const std::string& name, const std::vector<std::string>& names);

}  // namespace mezzo::detail
