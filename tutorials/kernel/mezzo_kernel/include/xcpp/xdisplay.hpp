#pragma once
#include <iostream>

#include <nlohmann/json.hpp>

// Replaces xeus-cling's header of the same name, so that notebooks run with both kernels. The bundle goes to stdout
// between marks, so that it keeps its place among the text; output.py finds it there.
namespace xcpp {

/// Shows a value that has a `mime_bundle_repr`.
template <class T>
void display(const T& t, const char* kind = "display_data") {
  const nlohmann::json bundle = mime_bundle_repr(t);
  std::cout << '\x02' << kind << ' ' << bundle.dump() << '\x03' << std::flush;
}

}  // namespace xcpp
