#pragma once
#include <string>
#include <vector>

#include <mezzo/io/tensor_entry.hpp>

namespace mezzo::cli {

/// At most 100 bytes of a text of a file, whose control characters become spaces.
std::string one_line(const std::string& text);

/// Prints name, dtype and shape of each tensor, and their number and bytes.
void print_entries(const std::vector<TensorEntry>& entries);

}  // namespace mezzo::cli
