#include <mezzo/data/tables/csv_dataset.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/csv_file.hpp>
#include <mezzo/data/tables/first_missing.hpp>

namespace mezzo {
namespace {

/// Columns of the fields of a data set.
struct CsvFields {
  std::vector<std::string> x, y, weights;
};

CsvFields csv_fields(const std::vector<std::string>& names, const CsvDatasetOptions& options,
                     const std::string& where) {
  CsvFields fields{options.features, options.targets, {}};
  if (!options.weights.empty()) fields.weights = {options.weights};
  std::set<std::string> used;
  for (const auto* list : {&fields.x, &fields.y, &fields.weights}) {
    for (const std::string& name : *list) {
      if (std::find(names.begin(), names.end(), name) == names.end()) fail_unknown(where, "column", name, names);
      if (!used.insert(name).second) fail<ValueError>(where, "columns must differ; got \"{}\" twice", name);
    }
  }
  for (const std::string& name : names) {
    if (options.features.empty() && used.count(name) == 0) fields.x.push_back(name);
  }
  return fields;
}

/// A FileError for a missing value in these columns. `cure`: end of its text.
void check_values(const Table& table, const std::vector<std::string>& columns, const std::string& where,
                  const char* cure = "") {
  for (const std::string& name : columns) {
    if (const auto row = detail::first_missing(table[name])) {
      fail<FileError>(where, "line {}, column \"{}\" must have a value; it is missing{}", table.line(*row), name, cure);
    }
  }
}

}  // namespace

Dataset csv_dataset(const std::string& path, const CsvDatasetOptions& options) {
  const std::string where = fmt::format("[csv_dataset \"{}\"]", path);
  if (!options.csv.usecols.empty() || !options.csv.dtype.empty()) {
    fail<ValueError>(where, "usecols and dtype of csv must not be given; they follow from features and targets");
  }
  const CsvFields columns = csv_fields(detail::csv_names(path, options.csv, where), options, where);
  ReadCsvOptions csv = options.csv;
  std::map<std::string, detail::ColumnType> types;
  const auto add = [&](const std::vector<std::string>& names, DType dtype) {
    csv.usecols.insert(csv.usecols.end(), names.begin(), names.end());
    for (const std::string& name : names) types.emplace(name, dtype);
  };
  add(columns.x, options.dtype);
  add(columns.y, options.target_dtype);
  add(columns.weights, DType::float32);
  csv.dtype = types;
  detail::CsvFile file(path, csv, where);
  const Table table = file.read_all();
  if (table.rows() == 0) fail<FileError>(where, "must have rows; got none");
  if (!options.allow_missing) check_values(table, columns.x, where, ": allow_missing = true reads NaN");
  check_values(table, columns.y, where);
  check_values(table, columns.weights, where);
  std::vector<detail::NamedTensor> fields;
  if (!columns.x.empty()) fields.push_back({"x", table.to_tensor(columns.x, options.dtype), Role::input});
  if (!columns.y.empty()) {
    Tensor y = table.to_tensor(columns.y, options.target_dtype);
    if (columns.y.size() == 1) y = y.reshape({-1});
    fields.push_back({"y", y, Role::target});
  }
  if (!columns.weights.empty()) {
    fields.push_back({"sample_weight", table.to_tensor(columns.weights).reshape({-1}), Role::weight});
  }
  return Dataset::from_tensors(std::move(fields));
}

}  // namespace mezzo
