#include <boost/test/unit_test.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>

#include "support/captured.hpp"

using namespace mezzo;

namespace {

std::string text_of(const std::string& text) { return FileError(text).what(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(error)

BOOST_AUTO_TEST_CASE(control_characters_are_escaped) {
  BOOST_TEST(text_of("a\nb\tc\r\x1b[31m\x7f") == "a\\nb\\tc\\x0d\\x1b[31m\\x7f");
  BOOST_TEST(text_of(std::string("a\0b", 3)) == "a\\x00b");
  BOOST_TEST(text_of("\xc2\x85 \xc2\x9b \xc2\xa0 \xc3\x85 \xc2") == "\\u0085 \\u009b \xc2\xa0 \xc3\x85 \xc2");
  BOOST_TEST(text_of("né \"中\" \\n") == "né \"中\" \\n");
}

BOOST_AUTO_TEST_CASE(long_texts_are_shortened_in_the_middle) {
  const std::string begin(6000, 'a'), end(2000, 'z');
  BOOST_TEST(text_of(begin + end) == begin + end);
  BOOST_TEST(text_of(begin + "-" + end) == begin + " ... (1 bytes left out) ... " + end);
  BOOST_TEST(text_of(begin + std::string(90'000'000, '-') + end) ==
             begin + " ... (90000000 bytes left out) ... " + end);
  // No character is cut.
  const std::string shorter = begin.substr(1);
  BOOST_TEST(text_of(shorter + "é" + end.substr(1) + "é") ==
             shorter + " ... (3 bytes left out) ... " + end.substr(2) + "é");
}

BOOST_AUTO_TEST_CASE(warnings_are_one_line_too) {
  const mezzo_tests::CapturedOutput output;
  detail::warn("tensor \"a\nb\x1b\"");
  BOOST_TEST(output.text() == "mezzo: warning: tensor \"a\\nb\\x1b\"\n");
}

BOOST_AUTO_TEST_CASE(every_kind_of_error_has_such_a_text) {
  const auto what = [](auto error) { return std::string(error.what()); };
  BOOST_TEST(what(Error("\n")) == "\\n");
  BOOST_TEST(what(ShapeError("\n")) == "\\n");
  BOOST_TEST(what(DTypeError("\n")) == "\\n");
  BOOST_TEST(what(NameError("\n")) == "\\n");
  BOOST_TEST(what(ValueError("\n")) == "\\n");
}

BOOST_AUTO_TEST_SUITE_END()
