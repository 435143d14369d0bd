#include <mezzo/data/tables/table_dataset.hpp>

#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/first_missing.hpp>

namespace mezzo {
namespace {

const char* const table_dataset_where = "[table_dataset]";

void check_no_missing(const Table& table, const std::string& name) {
  const auto row = detail::first_missing(table[name]);
  if (!row) return;
  fail<ValueError>(table_dataset_where, "{}, column \"{}\" must have a value; it is missing", table.describe_row(*row),
                   name);
}

detail::NamedTensor field_of(const Table& table, const std::string& name, Role role, DType dtype) {
  const Column& column = table[name];
  if (column.type() == "str") {
    fail<DTypeError>(table_dataset_where,
                     "column \"{}\" must have numbers or categories; got str, which astype(\"category\") converts",
                     name);
  }
  const bool floats = is_floating(column.values().dtype());
  if (!floats || role != Role::input) check_no_missing(table, name);
  if (!floats) return {name, column.values(), role};
  return {name, table.to_tensor({name}, dtype).reshape({-1}), role};
}

}  // namespace

Dataset table_dataset(const Table& table, const TableDatasetOptions& options) {
  if (table.rows() == 0) fail<ValueError>(table_dataset_where, "the table must have rows; got none");
  std::set<std::string> used;
  const auto use = [&](const std::string& name) {
    if (!used.insert(name).second) {
      fail<ValueError>(table_dataset_where, "columns must differ; got \"{}\" twice", name);
    }
  };
  for (const auto* names : {&options.targets, &options.weights, &options.features}) {
    for (const std::string& name : *names) use(name);
  }
  std::vector<std::string> features = options.features;
  for (const std::string& name : table.columns()) {
    if (options.features.empty() && used.count(name) == 0) features.push_back(name);
  }
  std::vector<detail::NamedTensor> fields;
  const auto add = [&](const std::vector<std::string>& names, Role role) {
    for (const std::string& name : names) fields.push_back(field_of(table, name, role, options.dtype));
  };
  add(features, Role::input);
  add(options.targets, Role::target);
  add(options.weights, Role::weight);
  return Dataset::from_tensors(std::move(fields));
}

}  // namespace mezzo
