#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include <mezzo/data/tables/csv_dialect.hpp>

namespace mezzo::detail {

/// Divides a text that begins at a record into parts of about `part_bytes` bytes. Returns the end of each part, which
/// lies between records. With `last` the parts cover the text; otherwise a record that may continue behind the text is
/// left out. The character behind the text must be readable and a line end.
std::vector<std::size_t> split_records(std::string_view text, const CsvDialect& dialect, std::size_t part_bytes,
                                       bool last);

}  // namespace mezzo::detail
