#include <mezzo/data/csv_dataset.hpp>

#include <algorithm>
#include <fstream>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/csv_columns.hpp>

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
  const std::string where = fmt::format("[csv_dataset \"{}\"]", path);
  const auto read = [&](const std::vector<std::size_t>& columns, DType dtype) {
    load.dtype = dtype;
    return detail::load_csv_columns(path, load, columns, where);
  };
  const auto [x, in_file] = read(xs, options.dtype);
  if (in_file == 0) fail<FileError>(csv_where, "\"{}\" must have rows; got none", path);
  if (static_cast<std::size_t>(in_file) != names.size()) {
    fail<FileError>(csv_where, "\"{}\" must have {} columns: {}; got {}", path, names.size(), fmt::join(names, ", "),
                    in_file);
  }
  std::vector<detail::NamedTensor> fields;
  fields.push_back({"x", x, Role::input});
  if (!ys.empty()) {
    Tensor y = read(ys, options.target_dtype).table;
    if (ys.size() == 1) y = y.reshape({-1});
    fields.push_back({"y", y, Role::target});
  }
  return Dataset::from_tensors(std::move(fields));
}

}  // namespace mezzo
