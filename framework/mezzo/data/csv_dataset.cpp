#include <mezzo/data/csv_dataset.hpp>

#include <algorithm>
#include <fstream>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/csv.hpp>

namespace mezzo {
namespace {

const char* const csv_where = "[csv_dataset]";

/// Names in the first line, without spaces and quotes around them.
std::vector<std::string> names_in(const std::string& path, char delimiter) {
  detail::check_path(path, csv_where);
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) fail<FileError>(csv_where, "\"{}\" must have a line of names; it can't be read", path);
  std::vector<std::string> names(1);
  for (const char c : line) {
    if (c == delimiter) {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  for (std::string& name : names) {
    const char* const around = " \t\r\"";
    const std::size_t begin = name.find_first_not_of(around);
    name = begin == std::string::npos ? "" : name.substr(begin, name.find_last_not_of(around) - begin + 1);
  }
  return names;
}

std::vector<std::size_t> places_of(const std::vector<std::string>& wanted, const std::vector<std::string>& names) {
  std::vector<std::size_t> places;
  for (const std::string& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      fail<NameError>(csv_where, "unknown column \"{}\"; valid names: {}", name, fmt::join(names, ", "));
    }
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return places;
}

Tensor columns_of(const Tensor& table, const std::vector<std::size_t>& places, DType dtype) {
  const auto columns = static_cast<std::size_t>(table.shape()[1]);
  Tensor out({table.shape()[0], static_cast<std::int64_t>(places.size())}, DType::float64);
  const auto* row = table.data<double>();
  auto* to = out.mutable_data<double>();
  for (std::int64_t i = 0; i < table.shape()[0]; ++i, row += columns) {
    for (const std::size_t place : places) *to++ = row[place];
  }
  return out.cast(dtype);
}

}  // namespace

Dataset csv_dataset(const std::string& path, const CsvDatasetOptions& options) {
  const bool named = options.columns.empty();
  const std::vector<std::string> names = named ? names_in(path, options.delimiter) : options.columns;
  std::set<std::string> once;
  for (const auto* list : {&names, &options.features, &options.targets}) {
    if (list != &options.targets) once.clear();
    for (const std::string& name : *list) {
      if (!once.insert(name).second) fail<ValueError>(csv_where, "columns must differ; got \"{}\" twice", name);
    }
  }
  std::vector<std::string> features = options.features;
  if (features.empty()) {
    for (const std::string& name : names) {
      if (std::find(options.targets.begin(), options.targets.end(), name) == options.targets.end()) {
        features.push_back(name);
      }
    }
  }
  const std::vector<std::size_t> xs = places_of(features, names), ys = places_of(options.targets, names);
  LoadCsvOptions load;
  load.delimiter = options.delimiter;
  load.skip_rows = named ? 1 : 0;
  load.comments = options.comments;
  load.dtype = DType::float64;
  const Tensor table = load_csv(path, load);
  if (table.shape()[0] > 0 && static_cast<std::size_t>(table.shape()[1]) != names.size()) {
    fail<FileError>(csv_where, "\"{}\" must have {} columns: {}; got {}", path, names.size(), fmt::join(names, ", "),
                    table.shape()[1]);
  }
  if (table.shape()[0] == 0) fail<FileError>(csv_where, "\"{}\" must have rows; got none", path);
  std::vector<NamedTensor> fields;
  fields.push_back({"x", columns_of(table, xs, options.dtype), Role::input});
  if (!ys.empty()) {
    Tensor y = columns_of(table, ys, options.target_dtype);
    if (ys.size() == 1) y = y.reshape({-1});
    fields.push_back({"y", y, Role::target});
  }
  return Dataset::from_tensors(std::move(fields));
}

}  // namespace mezzo
