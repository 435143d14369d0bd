#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

struct LoadCsvOptions {
  char delimiter = ',';          ///< character between fields
  std::int64_t skip_rows = 0;    ///< lines to skip at the beginning, of any content
  std::int64_t max_rows = -1;    ///< most rows to read; -1: all
  std::string comments = "#";    ///< start of a comment, which ends with the line; "": no comments
  DType dtype = DType::float32;  ///< dtype of the result
};

struct SaveCsvOptions {
  char delimiter = ',';  ///< character between fields
  std::string header{};  ///< written before the rows, with a line end; "": nothing
};

/// Reads a table of numbers, one row a line, as a tensor of shape (rows, columns); (0, 0) if there are no rows. Lines
/// end with LF or CRLF. Empty lines, comments, and spaces and tabs around fields are ignored. Fields are decimal
/// numbers, in any locale: "1", "-2.5e-3", "inf", "nan"; integers for integer dtypes; 0 or 1 for bool. A float field is
/// rounded to nearest even once, or to float64 first if the dtype is bfloat16 or float16.
///
/// Throws a FileError that names the file, the line (from 1), the expected and the given value if the file is missing
/// or larger than 4 GiB, if rows differ in length, or if a field isn't a number of the dtype. Throws a ValueError if an
/// option is out of range.
MEZZO_API Tensor load_csv(const std::string& path, const LoadCsvOptions& options = {});

/// Writes a tensor of rank 1 (one column) or 2 as a table, with as many digits as load_csv() needs to read the same
/// elements. The file appears as a whole: if writing fails, a previous file of that name stays unchanged.
///
/// Throws a ShapeError for another rank, a ValueError if an option is out of range, a FileError if the file can't be
/// written.
MEZZO_API void save_csv(const std::string& path, const Tensor& tensor, const SaveCsvOptions& options = {});

}  // namespace mezzo
