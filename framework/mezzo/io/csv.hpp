#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

struct SaveCsvOptions {
  char delimiter = ',';  ///< character between fields
  std::string header{};  ///< written before the rows, with a line end: one line, a field for each column; "": nothing
};

/// Writes a tensor of rank 1 (one column) or 2 as a table, with as many digits as needed to read the same elements. The
/// file appears as a whole: if writing fails, a previous file of that name stays unchanged.
///
/// Throws a ShapeError for another rank, a ValueError if an option is out of range, a FileError if the file can't be
/// written.
MEZZO_API void save_csv(const std::string& path, const Tensor& tensor, const SaveCsvOptions& options = {});

}  // namespace mezzo
