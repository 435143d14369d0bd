#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/io/csv.hpp>

namespace mezzo::detail {

struct CsvColumns {
  Tensor table;              ///< (rows, chosen columns); (0, 0) without rows
  std::int64_t in_file = 0;  ///< columns of the file
};

/// Reads some columns of a table, in the given order: equal to load_csv() of a table with these columns only. Numbers
/// are rounded only to the dtype of the options. An integer may be written as "1.0". The other columns must hold
/// numbers, too. Errors begin with `where`.
CsvColumns load_csv_columns(const std::string& path, const LoadCsvOptions& options,
                            const std::vector<std::size_t>& columns, const std::string& where);

}  // namespace mezzo::detail
