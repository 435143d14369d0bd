#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>

#include <mezzo/core/pattern.hpp>

using mezzo::detail::Pattern;

namespace {

/// The reason for which an expression is refused; "": it is not.
std::string refusal(const std::string& text) {
  try {
    const Pattern pattern(text);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pattern)

BOOST_AUTO_TEST_CASE(matches_whole_texts_or_finds_parts) {
  const Pattern norm(".*/norm_\\d{1,2}");
  BOOST_TEST(norm.matches("block/norm_12"));
  BOOST_TEST(!norm.matches("block/norm_123"));
  BOOST_TEST(norm.is_found_in("block/norm_123"));
  BOOST_TEST(!norm.is_found_in("norm_1"));
  BOOST_TEST(Pattern("caf.").matches("café"));  // characters, not bytes
  BOOST_TEST(Pattern("").matches(""));
}

BOOST_AUTO_TEST_CASE(replaces_each_match) {
  const Pattern block("block(\\d)\\.");
  BOOST_TEST(block.replaced("block1.block2.w", "b$1/") == "b1/b2/w");
  BOOST_TEST(block.replaced("block1.w", "$$1 $& $2 $x \\1 $") == "$1 block1.  $x \\1 $w");
  BOOST_TEST(Pattern("^a").replaced("aab", "") == "ab");
}

BOOST_AUTO_TEST_CASE(refuses_with_a_reason) {
  BOOST_TEST(refusal("a(") == "missing ): a(");
  BOOST_TEST(refusal("[a") == "missing ]: [a");
  BOOST_TEST(refusal("a**") == "bad repetition operator: **");
  BOOST_TEST(refusal("a\\") == "trailing \\");
  BOOST_TEST(refusal("\xff") == "invalid UTF-8");
  BOOST_TEST(refusal("(a)\\1") == "invalid escape \\1; back references are not supported");
  BOOST_TEST(refusal("a\\12345678901234567890") == "invalid escape \\1; back references are not supported");
  for (const char* look_around : {"a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b"}) {
    BOOST_TEST(refusal(look_around).find("look-around is not supported") != std::string::npos);
  }
  BOOST_TEST(refusal("a{") == "a { must start a repetition such as {2} or {2,3}; the character is \\{");
  BOOST_TEST(refusal("a{1,12345678901234567890}") == "a repetition must be at most 1000");
  BOOST_TEST(refusal("a{1001}") == "invalid repetition size: {1001}");
  for (const char* valid : {"a{2}", "a{2,}", "a{2,3}?", "[{]\\{", "[[:alpha:]{]+", "\\x{e9}\\pN\\p{L}", "[]a]"}) {
    BOOST_TEST(refusal(valid) == "", valid);
  }
}

// std::regex crashed for long expressions and took exponential time for nested repetitions.
BOOST_AUTO_TEST_CASE(is_bounded_in_size_and_time) {
  BOOST_TEST(refusal(std::string(100'000, 'a')) == "at most 10000 bytes; got 100000");
  BOOST_TEST(refusal(repeated("(a|b)*", 20'000)) == "at most 10000 bytes; got 120000");
  BOOST_TEST(refusal(repeated("(", 10'000)).find("missing )") == 0U);
  BOOST_TEST(refusal("(((a{30}){30}){30}){30}").find("invalid repetition size") == 0U);
  BOOST_TEST(refusal(repeated("\\pL.*", 1'600)) == "pattern too large - compile failed");
  const std::string path(100'000, 'a');
  BOOST_TEST(!Pattern("(a*)*b").matches(path));
  BOOST_TEST(!Pattern("(a|aa)+b").is_found_in(path));
  BOOST_TEST(Pattern(repeated("(a*)*", 1'000)).matches(path));
  BOOST_TEST(!Pattern(repeated("(", 900) + "a" + repeated(")*", 900) + "b").matches(path));
}

BOOST_AUTO_TEST_SUITE_END()
