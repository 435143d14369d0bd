#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>
#include <mezzo/data/text/char_tokenizer.hpp>

#include "support/throws.hpp"

using mezzo::CharTokenizer;
using mezzo::ValueError;
using mezzo_tests::check_throws;

BOOST_AUTO_TEST_SUITE(char_tokenizer)

BOOST_AUTO_TEST_CASE(ids_are_in_the_order_of_the_code_points) {
  const CharTokenizer tokenizer("b\xC3\xA9\xF0\x9F\x98\x80 a\nb");
  BOOST_TEST(tokenizer.vocab_size() == 6);
  BOOST_TEST(tokenizer.vocabulary() == "\n ab\xC3\xA9\xF0\x9F\x98\x80");
  const CharTokenizer::Ids ids = tokenizer.encode("b\xF0\x9F\x98\x80\n a\xC3\xA9");
  BOOST_TEST(ids == (CharTokenizer::Ids{3, 5, 0, 1, 2, 4}), boost::test_tools::per_element());
  BOOST_TEST(tokenizer.decode(ids) == "b\xF0\x9F\x98\x80\n a\xC3\xA9");
  BOOST_TEST(CharTokenizer(tokenizer.vocabulary()).encode("ab") == tokenizer.encode("ab"),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(unknown_characters_and_ids_are_refused) {
  const CharTokenizer tokenizer("abc");
  check_throws<ValueError>(
      "[CharTokenizer] every character must be one of the vocabulary's 3; got U+00E9 \"\xC3\xA9\" at byte 2 of the "
      "text",
      [&] { tokenizer.encode("ab\xC3\xA9"); });
  check_throws<ValueError>(
      "[CharTokenizer] every character must be one of the vocabulary's 3; got U+000A at byte 0 of the text",
      [&] { tokenizer.encode("\n"); });
  check_throws<ValueError>("[CharTokenizer] ids must lie in [0, 3); got 3", [&] { tokenizer.decode({0, 3}); });
  check_throws<ValueError>("[CharTokenizer] ids must lie in [0, 3); got -1", [&] { tokenizer.decode({-1}); });
  BOOST_TEST(CharTokenizer("").vocab_size() == 0);
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_refused_with_its_place) {
  const CharTokenizer tokenizer("a\xC3\xA9");
  // A stray tail, a cut lead, an overlong slash, a surrogate, beyond U+10FFFF.
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"}) {
    const std::string text = std::string("\xC3\xA9") + bad;
    const std::string error = "[CharTokenizer] a text must be UTF-8; got an invalid byte at 2";
    check_throws<ValueError>(error, [&] { tokenizer.encode(text); });
    check_throws<ValueError>(error, [&] { CharTokenizer{text}; });
  }
}

BOOST_AUTO_TEST_SUITE_END()
