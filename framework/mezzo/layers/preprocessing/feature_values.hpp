#pragma once
#include <map>
#include <string>

#include <mezzo/data/tables/table.hpp>
#include <mezzo/layers/preprocessing/feature.hpp>

namespace mezzo::detail {

/// Values of a feature in the rows of a table: numbers, float32 or int64 (rows,), or texts. None is missing.
struct FeatureValues {
  Tensor numbers{};
  Column texts{};

  /// The text of a row.
  std::string text(std::int64_t row) const { return texts.text(row); }
};

/// Takes the column of a feature, with `fillna` in place of missing values. Throws errors that start with `where`: a
/// NameError if the table lacks it, a DTypeError for another type, a ValueError that names row, line and column for a
/// missing value and for a number that isn't an integer or doesn't fit float32.
FeatureValues values_of(const FeatureSettings& feature, const Table& table,
                        const std::map<std::string, FillValue>& fillna, const std::string& where);

}  // namespace mezzo::detail
