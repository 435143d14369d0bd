#pragma once
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include <mezzo/graph/attributes.hpp>

namespace mezzo::detail {

/// Copy of the attributes except those with these names, in the same order.
inline Attributes without(const Attributes& attributes, std::initializer_list<std::string_view> names) {
  Attributes rest;
  for (const auto& [name, value] : attributes.entries()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) rest.set(name, value);
  }
  return rest;
}

}  // namespace mezzo::detail
