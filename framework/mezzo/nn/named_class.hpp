#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/name_table.hpp>
#include <mezzo/nn/saved_class.hpp>

namespace mezzo::detail {

/// A class that configs name, and the texts that options take for an object of it with default options: "mse".
template <class Base>
struct NamedClass {
  SavedClass<Base> saved;
  std::vector<std::string> names{};  ///< empty: options take no text for the class
  Any<Base> (*make)(const std::string& name) =
      nullptr;  ///< receives the text: losses and metrics keep it as their name
};

/// Entry of a class with these texts.
template <class L, class Base>
NamedClass<Base> with_names(SavedClass<Base> saved, std::vector<std::string> names) {
  const auto make = [](const std::string& name) -> Any<Base> {
    if constexpr (std::is_same_v<Base, Loss> || std::is_same_v<Base, Metric>) {
      return L({.name = name});
    } else {
      return L();
    }
  };
  return {std::move(saved), std::move(names), make};
}

/// The texts of a class as Keras has them, "MeanSquaredError" and "mean_squared_error", and more.
inline std::vector<std::string> keras_names(const std::string& name, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {name, snake_case(name)});
  return more;
}

/// The texts of all classes of a family, sorted. `family` is its name in errors: "loss".
template <class Base>
NameTable<Base> name_table(const std::string& family, const std::vector<NamedClass<Base>>& classes) {
  std::vector<typename NameTable<Base>::Row> rows;
  for (const NamedClass<Base>& one : classes) {
    for (const std::string& name : one.names) rows.push_back({name, one.make});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return NameTable<Base>(family, std::move(rows));
}

/// The parts of the entries that configs need.
template <class Base>
std::vector<SavedClass<Base>> saved_classes(std::vector<NamedClass<Base>> classes) {
  std::vector<SavedClass<Base>> all;
  for (NamedClass<Base>& one : classes) all.push_back(std::move(one.saved));
  return all;
}

}  // namespace mezzo::detail
