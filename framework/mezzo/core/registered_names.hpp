#pragma once
#include <string>

#include <mezzo/core/name_table.hpp>

namespace mezzo::detail {

/// The table of names that a higher folder has registered for a family, or null.
template <class Base>
const NameTable<Base>*& registered_names() {
  static const NameTable<Base>* names = nullptr;
  return names;
}

/// Returns that table. `family` is the name of the family in errors: "loss". A NameError if none is registered: a
/// static build that is linked without registration.cpp.
template <class Base>
const NameTable<Base>& names_of(const char* family, const std::string& name) {
  if (registered_names<Base>() != nullptr) return *registered_names<Base>();
  fail<NameError>("", "unknown {} \"{}\"; no names are registered: link mezzo with -Wl,--undefined=mezzo_register",
                  family, name);
}

}  // namespace mezzo::detail
