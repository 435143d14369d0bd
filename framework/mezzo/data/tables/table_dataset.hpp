#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>
#include <mezzo/data/tables/table.hpp>

namespace mezzo {

/// Options of table_dataset.
struct TableDatasetOptions {
  std::vector<std::string> features{};  ///< columns that are inputs; none: all that are neither targets nor weights
  std::vector<std::string> targets{};   ///< columns that are targets
  std::vector<std::string> weights{};   ///< columns that are weights of the samples
  DType dtype = DType::float32;         ///< dtype of the fields of columns with floats
};

/// The rows of a table as samples: `table_dataset(table, {.targets = {"y"}})`. Each column is a field of its name,
/// shape () a sample. Columns of integers and bools keep their dtype; categories are their codes, int64. A missing
/// float of a feature is NaN.
///
/// Throws a NameError for an unknown column, a DTypeError for a column of strings. Throws a ValueError that names row,
/// line and column for any other missing value and for a number that `dtype` can't hold, and a ValueError for a column
/// that is named twice and for a table without rows.
MEZZO_API Dataset table_dataset(const Table& table, const TableDatasetOptions& options = {});

}  // namespace mezzo
