#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/training/callbacks/callback.hpp>

namespace mezzo::detail {

/// A number as Python prints it: the shortest text that reads back as the number, with ".0" for whole numbers.
std::string python_text(double number);

/// Fills the placeholders of a path: `{epoch:02d}`, `{batch}`, `{val_loss:.2f}`, with Python's format specifications of
/// numbers. `{{` and `}}` are braces. A ValueError that starts with `where` for another name or a bad specification.
std::string filled_path(const std::string& where, const std::string& path, int epoch, std::optional<std::int64_t> batch,
                        const Logs& logs);

/// Makes the folder of a file, with those above it.
void make_folder_of(const std::string& where, const std::string& path);

/// Number of a state; a count from 0 to 2^30, 0 if it is missing or none.
std::optional<double> number_in(const CallbackState& state, const std::string& key);
int count_in(const CallbackState& state, const std::string& key);

}  // namespace mezzo::detail
