#include <boost/test/unit_test.hpp>

#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <mezzo/core/output.hpp>

namespace {

// Restores std::cerr at the end of a case.
struct Restore {
  ~Restore() { mezzo::set_output({}); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(output)

BOOST_AUTO_TEST_CASE(goes_to_cerr_by_default) {
  const Restore restore;
  std::ostringstream text;
  std::streambuf* const original = std::cerr.rdbuf(text.rdbuf());
  mezzo::detail::write_output("half a line");
  mezzo::set_output([](const std::string&) {});
  mezzo::detail::write_output("elsewhere");
  BOOST_TEST(!mezzo::detail::output_is_terminal());
  mezzo::set_output({});
  mezzo::detail::warn("slow");
  std::cerr.rdbuf(original);
  BOOST_TEST(text.str() == "half a linemezzo: warning: slow\n");
}

BOOST_AUTO_TEST_CASE(a_warning_has_a_line_of_its_own) {
  const Restore restore;
  std::string text;
  mezzo::set_output([&](const std::string& more) { text += more; });
  mezzo::detail::warn("at once");
  mezzo::detail::write_output("\rhalf a line");
  mezzo::detail::warn("first");
  mezzo::detail::warn("second");
  BOOST_TEST(text == "mezzo: warning: at once\n\rhalf a line\nmezzo: warning: first\nmezzo: warning: second\n");
}

BOOST_AUTO_TEST_CASE(a_sink_may_warn_and_replace_itself) {
  const Restore restore;
  std::string text;
  mezzo::set_output([&](const std::string& first) {
    mezzo::set_output([&](const std::string& later) { text += later; });
    mezzo::detail::write_output("after ");
    text += first;
  });
  mezzo::detail::write_output("before ");
  mezzo::detail::write_output("end");
  BOOST_TEST(text == "after before end");
}

BOOST_AUTO_TEST_CASE(threads_write_one_after_the_other) {
  const Restore restore;
  std::string text;
  mezzo::set_output([&](const std::string& part) {
    for (const char c : part) text += c;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 500; ++n) mezzo::detail::write_output("abcdefgh");
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string expected;
  for (int i = 0; i < 2000; ++i) expected += "abcdefgh";
  BOOST_TEST((text == expected));
}

BOOST_AUTO_TEST_SUITE_END()
