#pragma once

#include <boost/test/unit_test.hpp>

#include <exception>
#include <string>

namespace mezzo_tests {

// Checks that `call` throws an E with exactly this text.
template <class E, class Call>
void check_throws(const std::string& text, Call&& call) {
  try {
    call();
    BOOST_ERROR("nothing was thrown; expected: " + text);
  } catch (const E& e) {
    BOOST_TEST(e.what() == text);
  } catch (const std::exception& e) {
    BOOST_ERROR(std::string("an exception of another type was thrown: ") + e.what());
  }
}

}  // namespace mezzo_tests
