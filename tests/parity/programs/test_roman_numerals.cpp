// Writes decimal numbers as Roman numerals, letter by letter: see roman_numerals.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<std::pair<int, std::string>> signs = {{900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"},
                                                        {90, "XC"},  {50, "L"},  {40, "XL"},  {10, "X"},
                                                        {9, "IX"},   {5, "V"},   {4, "IV"},   {1, "I"}};
const std::string alphabet = " IVXLCDM";
constexpr std::int64_t longest = 12;

// Roman numeral, filled up with spaces.
std::string numeral(int number) {
  std::string text;
  for (const auto& [value, sign] : signs) {
    for (; number >= value; number -= value) text += sign;
  }
  text.resize(longest, ' ');
  return text;
}

// Rows of the unit matrix: (count, characters of a word, letters of the alphabet).
Tensor one_hot_text(std::int64_t count, const std::string& text, const std::string& known) {
  std::vector<std::int64_t> places;
  for (const char character : text) places.push_back(static_cast<std::int64_t>(known.find(character)));
  return eye(static_cast<std::int64_t>(known.size()))(Tensor(Shape{std::ssize(places)}, places).reshape({count, -1}));
}

// Numbers below 1000 in both notations.
std::pair<Tensor, Tensor> lessons(std::uint32_t stream, std::int64_t count) {
  std::string decimals, numerals;
  for (const double drawn : random_integers(stream, {count}, 999).to_doubles()) {
    decimals += std::to_string(1001 + static_cast<int>(drawn)).substr(1);
    numerals += numeral(1 + static_cast<int>(drawn));
  }
  return {one_hot_text(count, decimals, "0123456789"), one_hot_text(count, numerals, alphabet)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(roman_numerals)

BOOST_AUTO_TEST_CASE(losses_and_text_equal_keras) {
  auto expected = program("roman_numerals");
  const auto [digits, letters] = lessons(1, 50);
  const auto [other_digits, other_letters] = lessons(2, 12);

  Sequential scribe;
  scribe.add(Input({3, 10}));
  scribe.add(LSTM(12));
  scribe.add(RepeatVector(longest));
  for (const int width : {12, 8}) scribe.add(LSTM({.units = width, .return_sequences = true}));
  scribe.add(Dense(8, {.activation = "softmax"}));
  initialize(scribe, expected["weights"]);

  scribe.compile({.optimizer = Adam(0.03), .loss = "categorical_crossentropy", .metrics = {"accuracy"}});
  const ValidationData others{other_digits, other_letters};
  const History run = scribe.fit(
      digits, letters, {.batch_size = 5, .epochs = 4, .verbose = 0, .validation_data = others, .shuffle = false});
  check_history(run, expected["history"]);

  const Tensor odds = scribe.predict(other_digits, {.verbose = 0});
  check_numbers("probability", odds(0).to_doubles(), expected["odds"]);
  std::string text;
  for (const double place : argmax(odds, -1).tensor().to_doubles()) text += alphabet[static_cast<std::size_t>(place)];
  BOOST_TEST(text == expected["text"].get<std::string>());
}

BOOST_AUTO_TEST_SUITE_END()
