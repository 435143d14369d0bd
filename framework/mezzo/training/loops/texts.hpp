#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/module/callback.hpp>

namespace mezzo::detail {

/// Fills the placeholders of a path: `{epoch:02d}`, `{batch}`, `{val_loss:.2f}`, with Python's format specifications of
/// numbers. `{{` and `}}` are braces. Names are those of the logs and of `counts`, whole numbers that logs may replace.
/// A ValueError that starts with `where` for another name or a bad specification.
std::string filled_path(const std::string& where, const std::string& path,
                        const std::vector<std::pair<std::string, std::int64_t>>& counts, const Logs& logs);

/// Makes the folder of a file, with those above it.
void make_folder_of(const std::string& where, const std::string& path);

/// Number of a state; a count from 0 to 2^30, 0 if it is missing or none.
std::optional<double> number_in(const CallbackState& state, const std::string& key);
int count_in(const CallbackState& state, const std::string& key);

}  // namespace mezzo::detail
