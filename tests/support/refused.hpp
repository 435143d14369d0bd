#pragma once

#include <string>

namespace mezzo_tests {

// The text of the E that f throws; "" if it throws none.
template <class E, class F>
std::string refused(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

}  // namespace mezzo_tests
