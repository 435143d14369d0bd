// Dropouts and noise: statistics in training, seeds, inference.
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/layers/regularization/noise.hpp>
#include <mezzo/layers/regularization/spatial_dropout.hpp>
#include <mezzo/ops/random.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/parallel.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor of(const Shape& shape, double value) { return full(shape, value, DType::float32); }

/// The output in a training step.
Tensor trained(Layer& layer, const Tensor& x, double step = 0, double seed = 0) {
  Trace trace(Trace::Mode::eager, true);
  trace.runtime_values[{detail::RuntimeScalar::step}] = step;
  trace.runtime_values[{detail::RuntimeScalar::seed}] = seed;
  return layer(Values{x}).front().tensor();
}

struct Moments {
  double mean, deviation;
};

Moments moments_of(const Tensor& x) {
  const std::vector<double> all = x.to_doubles();
  double sum = 0, squares = 0;
  for (const double one : all) sum += one;
  const double mean = sum / static_cast<double>(all.size());
  for (const double one : all) squares += (one - mean) * (one - mean);
  return {mean, std::sqrt(squares / static_cast<double>(all.size()))};
}

using Make = std::function<Any<Layer>(std::optional<std::uint64_t> seed)>;

const std::vector<std::pair<const char*, Make>> kinds{
    {"Dropout", [](auto seed) { return Dropout(0.5, {.seed = seed}); }},
    {"columns",
     [](auto seed) {
       return Dropout(0.5, {.noise_shape = {-1, 1, -1}, .seed = seed});
     }},
    {"SpatialDropout1D", [](auto seed) { return SpatialDropout1D(0.5, {.seed = seed}); }},
    {"GaussianNoise", [](auto seed) { return GaussianNoise(0.5, {.seed = seed}); }},
    {"GaussianDropout", [](auto seed) { return GaussianDropout(0.5, {.seed = seed}); }},
    {"AlphaDropout", [](auto seed) { return AlphaDropout(0.5, {.seed = seed}); }},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(noise)

BOOST_AUTO_TEST_CASE(inference_returns_the_input) {
  const Tensor x = random_tensor({4, 5, 6});
  for (const auto& [name, make] : kinds) {
    const Any<Layer> layer = make({});
    BOOST_TEST((*layer)(Values{x})[0].tensor().equal(x), name);
    BOOST_TEST(!(*layer)(Values{x}, {.training = true})[0].tensor().equal(x), name);
    const detail::PolicyScope narrow{Policy("mixed_bfloat16")};
    BOOST_TEST(((*layer)(Values{x})[0].dtype() == DType::bfloat16), name);
    BOOST_TEST((trained(*layer, x).dtype() == DType::bfloat16), name);
  }
}

BOOST_AUTO_TEST_CASE(numbers_depend_on_step_and_seed) {
  const Tensor x = of({4, 50, 6}, 1);
  for (const auto& [name, make] : kinds) {
    BOOST_TEST_CONTEXT(name) {
      const Any<Layer> free = make({}), fixed = make(7), same = make(7), other = make(8);
      BOOST_TEST(trained(*free, x, 3).equal(trained(*free, x, 3)));
      BOOST_TEST(!trained(*free, x, 3).equal(trained(*free, x, 4)));
      BOOST_TEST(!trained(*free, x, 3).equal(trained(*free, x, 3, 1)));
      BOOST_TEST(trained(*fixed, x, 3).equal(trained(*same, x, 3, 1)));
      BOOST_TEST(!trained(*fixed, x, 3).equal(trained(*fixed, x, 4)));
      BOOST_TEST(!trained(*fixed, x, 3).equal(trained(*other, x, 3)));
      // Outside of steps, each call has other numbers; layers of one seed have the same ones.
      const auto called = [&](const Any<Layer>& layer) { return (*layer)(Values{x}, {.training = true})[0].tensor(); };
      const Tensor first = called(fixed), second = called(fixed);
      BOOST_TEST(!first.equal(second));
      BOOST_TEST(called(same).equal(first));
      BOOST_TEST(called(same).equal(second));
    }
  }
}

// Bounds of five deviations of the estimates.
BOOST_AUTO_TEST_CASE(moments) {
  const Shape shape{100, 100};
  GaussianNoise noisy(0.5);
  const Moments of_noise = moments_of(trained(noisy, of(shape, 3)));
  BOOST_TEST(std::abs(of_noise.mean - 3) < 0.025);
  BOOST_TEST(std::abs(of_noise.deviation - 0.5) < 0.018);
  GaussianDropout gaussian(0.2);
  const Moments of_gaussian = moments_of(trained(gaussian, of(shape, 2)));
  BOOST_TEST(std::abs(of_gaussian.mean - 2) < 0.05);
  BOOST_TEST(std::abs(of_gaussian.deviation - 2 * 0.5) < 0.036);
  AlphaDropout alpha(0.3);
  const Tensor normal = random::normal({100, 100}, {.seed = 1}).tensor();
  const Moments of_alpha = moments_of(trained(alpha, normal));
  BOOST_TEST(std::abs(of_alpha.mean) < 0.06);
  BOOST_TEST(std::abs(of_alpha.deviation - 1) < 0.06);
  const std::vector<double> y = trained(alpha, of(shape, 0)).to_doubles();
  const double least = *std::min_element(y.begin(), y.end());
  BOOST_TEST(std::abs(static_cast<double>(std::count(y.begin(), y.end(), least)) - 3000) < 230);
}

BOOST_AUTO_TEST_CASE(whole_channels_are_dropped) {
  const auto check = [](Any<Layer> layer, const Shape& shape) {
    const std::vector<double> y = trained(*layer, of(shape, 1)).to_doubles();
    const std::int64_t channels = shape.back(), inner = element_count(shape) / shape[0] / channels;
    std::int64_t dropped = 0;
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const double first = y[static_cast<std::size_t>(n * inner * channels + c)];
        BOOST_TEST((first == 0 || first == 1.25));
        dropped += first == 0 ? 1 : 0;
        for (std::int64_t i = 1; i < inner; ++i) {
          BOOST_TEST(y[static_cast<std::size_t>((n * inner + i) * channels + c)] == first);
        }
      }
    }
    const auto count = static_cast<double>(shape[0] * channels);
    BOOST_TEST(std::abs(static_cast<double>(dropped) - 0.2 * count) < 5 * std::sqrt(0.16 * count));
  };
  check(SpatialDropout1D(0.2), {20, 3, 50});
  check(SpatialDropout2D(0.2), {20, 2, 2, 50});
  check(SpatialDropout3D(0.2), {20, 2, 1, 2, 50});
  check(Dropout(0.2, {.noise_shape = {-1, 1, 50}}), {20, 3, 50});
}

BOOST_AUTO_TEST_CASE(gradients_pass_with_the_factors) {
  const Tensor ones = of({4, 5, 6}, 1);
  for (const auto& [name, make] : kinds) {
    const Any<Layer> layer = make(3);
    const LayerRun run = run_layer(*layer, {ones}, ones, true);
    const std::string kind = name;
    if (kind == "GaussianNoise") {
      BOOST_TEST(run.input_gradients[0].equal(ones));
    } else if (kind != "AlphaDropout") {
      BOOST_TEST(run.input_gradients[0].equal(run.output), name);
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_do_not_depend_on_threads) {
  const Tensor x = of({100, 100, 4}, 1);
  for (const auto& [name, make] : kinds) {
    const Any<Layer> layer = make(3);
    const Tensor many = trained(*layer, x);
    const mezzo::detail::ThreadLimit one(1);
    BOOST_TEST(trained(*layer, x).equal(many), name);
  }
}

BOOST_AUTO_TEST_CASE(infinities_can_be_dropped) {
  const Tensor x = of({10, 1, 100}, std::numeric_limits<double>::infinity());
  SpatialDropout1D layer(0.5);
  for (const double y : trained(layer, x).to_doubles()) BOOST_TEST((y == 0 || std::isinf(y)));
}

BOOST_AUTO_TEST_CASE(bad_options_and_inputs_are_refused) {
  const auto value = [](auto f) { return refused<ValueError>(f); };
  BOOST_TEST(value([] { GaussianNoise(1.5); }) == "[GaussianNoise] stddev must lie in [0, 1]; got 1.5");
  BOOST_TEST(value([] { GaussianNoise(); }) == "[GaussianNoise] stddev must lie in [0, 1]; got -1");
  BOOST_TEST(value([] { GaussianDropout(1); }) == "[GaussianDropout] rate must lie in [0, 1); got 1");
  BOOST_TEST(value([] { AlphaDropout(-0.5); }) == "[AlphaDropout] rate must lie in [0, 1); got -0.5");
  BOOST_TEST(value([] { SpatialDropout2D(2); }) == "[SpatialDropout2D] rate must lie in [0, 1); got 2");
  BOOST_TEST(value([] {
               Dropout(0.5, {.noise_shape = {0, 3}});
             }) == "[Dropout] noise_shape must have sizes of at least 1, or -1; got (0, 3)");
  BOOST_TEST(refused<ShapeError>([] {
               Dropout(0.5, {.noise_shape = {-1, 2}})(Value(Tensor({4, 3})));
             }) ==
             "[Dropout] noise_shape (-1, 2) must have the sizes of the input, 1 or -1; got an input of shape (4, 3)");
  BOOST_TEST(refused<ShapeError>([] { SpatialDropout1D(0.5)(Value(Tensor({4, 3}))); }).find("SpatialDropout1D") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
