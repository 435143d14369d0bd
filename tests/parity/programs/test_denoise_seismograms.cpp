// Removes noise from seismograms by a convolutional denoising autoencoder: see denoise_seismograms.py.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t times = 16, receivers = 12;

// Amplitudes (shots, times, receivers, 1) of the wave along the ground and of its echo from one layer below.
Tensor wavefronts(std::uint32_t stream, std::int64_t shots) {
  const Value slowness = uniform_numbers(stream, {shots, 1, 1, 1}, 0.3, 1.2);
  const Value depth = uniform_numbers(stream + 1, {shots, 1, 1, 1}, 4, 9);
  const Value time = reshape(arange(times), {times, 1, 1});
  const Value direct = slowness * reshape(arange(receivers), {receivers, 1});
  const Value echo = sqrt(square(direct) + square(depth));
  return maximum(exp(-square(time - direct)), 0.6 * exp(-square(time - echo)));
}

Tensor corrupt(std::uint32_t stream, const Tensor& amplitudes) {
  return clip(amplitudes + 0.4 * normal_numbers(stream, amplitudes.shape()), 0, 1);
}

// Halves the picture once for each width, and doubles it as often.
Model autoencoder(std::vector<std::int64_t> widths) {
  const Input seismogram({.shape = {times, receivers, 1}});
  Value code = seismogram;
  for (const std::int64_t width : widths) {
    code = layers::Conv2D(width, {5, 3}, {.padding = "same", .activation = "relu"})(code);
    code = layers::MaxPooling2D(3, {.strides = 2, .padding = "same"})(code);
  }
  Value picture = code;
  std::reverse(widths.begin(), widths.end());
  for (const std::int64_t width : widths) {
    picture = layers::Conv2DTranspose(width, 3, {.strides = 2, .padding = "same", .activation = "relu"})(picture);
  }
  return Model(seismogram, layers::Conv2D(1, {3, 5}, {.padding = "same", .activation = "sigmoid"})(picture));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(denoise_seismograms)

BOOST_AUTO_TEST_CASE(losses_and_cleaned_pictures_equal_keras) {
  auto expected = program("denoise_seismograms");
  const Tensor quiet = wavefronts(1, 64), quiet_later = wavefronts(3, 10);
  const Tensor noisy = corrupt(10, quiet), noisy_later = corrupt(20, quiet_later);

  Model model = autoencoder({12, 8});
  initialize(model, expected["weights"]);
  model.compile({.optimizer = "adam", .loss = "binary_crossentropy"});
  const ValidationData later{noisy_later, quiet_later};
  const History run =
      model.fit(noisy, quiet, {.batch_size = 2, .epochs = 4, .verbose = 0, .validation_data = later, .shuffle = false});
  check_history(run, expected["history"]);

  const Tensor cleaned = model.predict(noisy_later, {.verbose = 0});
  const Tensor errors = mean(square(cleaned - quiet_later), {.axes = {1, 2, 3}});
  check_numbers("error of shot", errors.to_doubles(), expected["errors"]);
  check_numbers("amplitude at time", cleaned(0, all, 3, 0).to_doubles(), expected["trace"]);
}

BOOST_AUTO_TEST_SUITE_END()
