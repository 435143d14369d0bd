#pragma once
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo {

/// The named members of a family (losses, optimizers, ...); implements the family's from_name().
template <class Base>
class NameTable {
 public:
  /// `make` receives the requested name, because some members store it.
  struct Row {
    std::string name;
    Any<Base> (*make)(const std::string& name);
  };

  /// `family` is the name of the family in errors: "loss".
  NameTable(std::string family, std::vector<Row> rows) : family_(std::move(family)), rows_(std::move(rows)) {}

  /// Makes the member of that name. Returns an empty handle if there is none.
  Any<Base> find(const std::string& name) const {
    for (const Row& row : rows_) {
      if (row.name == name) return row.make(name);
    }
    return {};
  }

  /// Makes the member of that name. Throws a NameError with the valid names if there is none.
  Any<Base> at(const std::string& name) const {
    Any<Base> found = find(name);
    if (found) return found;
    fail_unknown("", family_, name, list());
  }

  /// All names in the order of the rows: "mae, mean_absolute_error, ...".
  std::string names() const { return fmt::format("{}", fmt::join(list(), ", ")); }

  std::vector<std::string> list() const {
    std::vector<std::string> all;
    for (const Row& row : rows_) all.push_back(row.name);
    return all;
  }

 private:
  std::string family_;
  std::vector<Row> rows_;
};

}  // namespace mezzo
