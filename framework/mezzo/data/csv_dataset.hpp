#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo {

/// Options of csv_dataset.
struct CsvDatasetOptions {
  std::vector<std::string> targets{};   ///< columns of the field `y`; none: no such field
  std::vector<std::string> features{};  ///< columns of the field `x`, in this order; none: all but the targets
  std::vector<std::string> columns{};   ///< names of the columns of a file without a first line of names
  char delimiter = ',';                 ///< character between fields
  std::string comments = "#";           ///< start of a comment; "": no comments
  DType dtype = DType::float32;         ///< dtype of x
  DType target_dtype = DType::float32;  ///< dtype of y; int64 for classes
};

/// A table of numbers as a data set. The first line has the names of the columns, unless they are in `columns`. Fields:
/// `x`, shape (features,), and `y`, shape () for one target, else (targets,). Throws a NameError for an unknown column,
/// a ValueError for one that is named twice, and the errors of load_csv(): texts, and numbers that the dtype of their
/// field can't hold, such as 2.5 in int64, are refused with their line and field. An integer may be written as "1.0".
MEZZO_API Dataset csv_dataset(const std::string& path, const CsvDatasetOptions& options = {});

}  // namespace mezzo
