#pragma once
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo {

/// The members of a family that have names: the one list behind its from_name().
template <class Base>
class NameTable {
 public:
  /// `make` gets the name that was asked for, since some members keep it.
  struct Row {
    std::string name;
    Any<Base> (*make)(const std::string& name);
  };

  /// `family` is what errors call it: "loss".
  NameTable(std::string family, std::vector<Row> rows) : family_(std::move(family)), rows_(std::move(rows)) {}

  /// The member of that name, or an empty handle.
  Any<Base> find(const std::string& name) const {
    for (const Row& row : rows_) {
      if (row.name == name) return row.make(name);
    }
    return {};
  }

  /// The member of that name; a NameError that lists the good ones otherwise.
  Any<Base> at(const std::string& name) const {
    Any<Base> found = find(name);
    if (!found) fail<NameError>("", "unknown {} \"{}\"; valid names: {}", family_, name, names());
    return found;
  }

  /// "mae, mean_absolute_error, ...".
  std::string names() const {
    std::string all;
    for (const Row& row : rows_) all += (all.empty() ? "" : ", ") + row.name;
    return all;
  }

 private:
  std::string family_;
  std::vector<Row> rows_;
};

}  // namespace mezzo
