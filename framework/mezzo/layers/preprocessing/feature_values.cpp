#include <mezzo/layers/preprocessing/feature_values.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/first_missing.hpp>
#include <mezzo/layers/preprocessing/feature_types.hpp>

namespace mezzo::detail {
namespace {

bool has_texts(const Column& column) { return column.type() == "str" || column.type() == "category"; }

/// The column with the types of missing values that the feature takes: the type of a column without any value isn't
/// known, and a filling of a float may be no integer.
Column ready_to_fill(const Column& column, FeatureType type) {
  if (takes_texts(type) && !has_texts(column) && column.missing() == column.size()) {
    return {Strings(std::vector<std::string>(static_cast<std::size_t>(column.size()))), column.isna()};
  }
  if (!takes_texts(type) && !takes_integers(type) && !has_texts(column)) return column.astype(DType::float64);
  return takes_integers(type) && !has_texts(column) && !is_floating(column.values().dtype())
             ? column.astype(DType::int64)
             : column;
}

Column without_missing(const std::string& name, FeatureType type, const Table& table,
                       const std::map<std::string, FillValue>& fillna, const std::string& where) {
  const Column& column = table[name];
  const auto row = first_missing(column);
  if (!row) return column;
  const auto filling = fillna.find(name);
  if (filling == fillna.end()) {
    fail<ValueError>(where,
                     "{}, column \"{}\" must have a value; it is missing: give the FeatureSpace a value by .fillna, or "
                     "use fillna() or dropna() of the table",
                     table.describe_row(*row), name);
  }
  return ready_to_fill(column, type).fillna(filling->second);
}

}  // namespace

FeatureValues values_of(const FeatureSettings& feature, const Table& table,
                        const std::map<std::string, FillValue>& fillna, const std::string& where) {
  const std::string& name = feature.name;
  const FeatureType type = feature_type(feature.type, where);
  if (!table.contains(name)) fail_unknown(where, "column", name, table.columns());
  const DType dtype = takes_integers(type) ? DType::int64 : DType::float32;
  if (table.rows() == 0) return {.numbers = Tensor({0}, dtype), .texts = {}};  // columns without rows have no type
  const Column column = without_missing(name, type, table, fillna, where);
  if (takes_texts(type) != has_texts(column)) {
    fail<DTypeError>(where, "column \"{}\" must have {} for a feature of type {}; got {}", name,
                     takes_texts(type) ? "strings or categories" : "numbers", feature.type, column.type());
  }
  if (takes_texts(type)) return {.numbers = {}, .texts = column};
  return {.numbers = table.assign(name, column).to_tensor({name}, dtype).reshape({-1}), .texts = {}};
}

}  // namespace mezzo::detail
