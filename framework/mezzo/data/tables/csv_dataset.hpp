#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>
#include <mezzo/data/tables/read_csv.hpp>

namespace mezzo {

/// Options of csv_dataset.
struct CsvDatasetOptions {
  std::vector<std::string> targets{};   ///< columns of the field `y`; none: no such field
  std::vector<std::string> features{};  ///< columns of the field `x`, in this order; none: all but the others
  std::string weights{};                ///< column of the field `sample_weight`; "": no such field
  DType dtype = DType::float32;         ///< dtype of x
  DType target_dtype = DType::float32;  ///< dtype of y; int64 for classes
  bool allow_missing = false;           ///< true: a missing value of a float x is NaN; false: an error
  ReadCsvOptions csv{};                 ///< form of the file; usecols and dtype follow from the columns
};

/// A file of comma-separated values as a data set of numbers. Fields: `x`, shape (features,), `y`, shape () for one
/// target, else (targets,), and `sample_weight`, shape (), float32. The other columns may have any content.
///
/// Without `features`, the order of the columns in `x` is that of this file: give them for a second file of the same
/// model, whose columns may have another order.
///
/// The file is read by read_csv(), with its errors: a text, and a number that the dtype of its field can't hold, such
/// as 2.5 in int64, is refused with line and column. So is a missing value, a FileError, except in a float `x` with
/// `allow_missing`. read_csv() and Table::fillna() replace missing values by others. Throws a ValueError for a column
/// that is named twice and for `usecols` or `dtype` in `csv`.
MEZZO_API Dataset csv_dataset(const std::string& path, const CsvDatasetOptions& options = {});

}  // namespace mezzo
