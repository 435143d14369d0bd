// The one main of every test program. Exit code 77 tells ctest that all passed but something was skipped.
#define BOOST_TEST_MODULE mezzo
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

#include "support/paths.hpp"
#include "support/skip.hpp"

namespace mezzo_tests {
namespace {
int skipped = 0;
}

void skip(const std::string& reason) {
  ++skipped;
  BOOST_TEST(true);  // a case without an assertion draws a warning
  std::cout << "MEZZO-SKIPPED: " << boost::unit_test::framework::current_test_case().full_name() << ": " << reason
            << std::endl;
}

std::filesystem::path tests_dir() { return MEZZO_TESTS_DIR; }
}  // namespace mezzo_tests

int main(int argc, char** argv) {
  // Whether float16 is slower depends on the machine (and on sanitizers); what tests compare with must not.
  ::setenv("MEZZO_WARN_SLOW_POLICY", "0", 0);
  const int result = boost::unit_test::unit_test_main(&init_unit_test, argc, argv);
  return result == 0 && mezzo_tests::skipped > 0 ? 77 : result;
}
