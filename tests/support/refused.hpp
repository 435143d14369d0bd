#pragma once

#include <string>

namespace mezzo_tests {

// The text of the exception of type E that f throws; "" if f returns.
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
