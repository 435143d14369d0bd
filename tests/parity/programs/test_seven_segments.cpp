// Reads digits from photographs of seven-segment displays: see seven_segments.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Pixels of the segments a to g, and the segments that each digit lights.
const std::vector<std::string> face = {" aaa ", "f   b", "f   b", "f   b", " ggg ", "e   c", "e   c", "e   c", " ddd "};
const std::vector<std::string> lit = {"abcdef", "bc",     "abdeg", "abcdg",   "bcfg",
                                      "acdfg",  "acdefg", "abc",   "abcdefg", "abcdfg"};

// Bytes (digits, 12, 8): a display at some place of each picture, and noise in all pixels.
Tensor photograph(const std::vector<double>& digits, std::uint32_t stream) {
  const auto count = static_cast<std::int64_t>(digits.size());
  Tensor pictures = random_integers(stream, {count, 12, 8}, 60);
  const Tensor places = random_integers(stream + 1, {count, 2}, 4);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::string& segments = lit[static_cast<std::size_t>(digits[i])];
    const std::int32_t* place = places.data<std::int32_t>() + 2 * i;
    std::int32_t* corner = pictures.mutable_data<std::int32_t>() + 96 * i + std::ptrdiff_t{8} * place[0] + place[1];
    for (std::size_t pixel = 0; pixel < 45; ++pixel) {
      if (segments.find(face[pixel / 5][pixel % 5]) != std::string::npos) corner[pixel / 5 * 8 + pixel % 5] += 190;
    }
  }
  return pictures.cast(DType::uint8);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seven_segments)

BOOST_AUTO_TEST_CASE(losses_and_accuracies_equal_keras) {
  auto expected = program("seven_segments");
  const Tensor digits = random_integers(1, {160}, 10);
  const Tensor photographs = photograph(digits.to_doubles(), 10);

  // docs: begin
  // Bytes become brightnesses between 0 and 1, with an axis for the one channel.
  const Tensor pictures = expand_dims(photographs.cast(DType::float32) / 255, -1);
  const Tensor targets = to_categorical(digits, 10);

  Sequential display({
      Input({.shape = {12, 8, 1}}),
      layers::Conv2D({.filters = 8, .kernel_size = {3, 2}, .activation = "relu"}),
      layers::MaxPooling2D({.pool_size = 2}),
      layers::Dropout(0.0),  // drops nothing, for numbers that can be compared
      layers::Conv2D({.filters = 16, .kernel_size = 3, .activation = "relu"}),
      layers::Flatten(),
      layers::Dense({.units = 10, .activation = "softmax"}),
  });
  // docs: end
  initialize(display, expected["weights"]);

  // docs: begin
  display.compile({.optimizer = "adam", .loss = "categorical_crossentropy", .metrics = {"accuracy"}});
  const History fitted =
      display.fit(pictures(slice(128)), targets(slice(128)),
                  {.batch_size = 4, .epochs = 4, .verbose = 0, .validation_split = 0.25, .shuffle = false});
  const Logs scores = display.evaluate(pictures(slice(128, 160)), targets(slice(128, 160)), {.verbose = 0});
  // docs: end
  check_history(fitted, expected["history"]);
  check_logs(scores, expected["scores"]);
}

BOOST_AUTO_TEST_SUITE_END()
