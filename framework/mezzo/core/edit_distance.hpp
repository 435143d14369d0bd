#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Changes from one text to the other: insertions, removals and replacements of bytes, and swaps of two neighbours that
/// are not changed otherwise (optimal string alignment).
MEZZO_API std::size_t edit_distance(const std::string& a, const std::string& b);

/// The first name that is most like `name`, of which the first 64 bytes count. Upper and lower case are equal. Changed
/// bytes count, except those that complete a beginning ("gray": "grayscale"), a part, or initials of words ("lr":
/// "learning_rate"). "" if no name is like it.
MEZZO_API std::string nearest_name(const std::string& name, const std::vector<std::string>& names);

/// `; nearest: "x"` for the end of an error, or "" if no name is like `name`.
MEZZO_API std::string nearest_text(const std::string& name, const std::vector<std::string>& names);

}  // namespace mezzo::detail
