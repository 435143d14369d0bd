// Layers that change images at random: values of Keras for given factors, models and loaders, distributions, errors.
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>
#include <set>

#include <mezzo/data/image/augment.hpp>
#include <mezzo/data/image/colors.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/images/image_tones.hpp>
#include <mezzo/layers/images/rand_augment.hpp>
#include <mezzo/layers/images/random_colors.hpp>
#include <mezzo/layers/images/random_geometry.hpp>
#include <mezzo/layers/preprocessing/hashed_crossing.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using namespace mezzo::image::detail;

namespace {

/// Largest difference, relative to numbers above 1.
double far(const Tensor& got, const Tensor& wanted) {
  if (got.shape() != wanted.shape()) return HUGE_VAL;
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(a[i] - b[i]) / std::max(1.0, std::abs(b[i])));
  return most;
}

Tensor image_of(const Tensor& images, std::int64_t i) {
  const Shape& shape = images.shape();
  return images.slice(i, i + 1).reshape({shape[1], shape[2], shape[3]});
}

/// function(image) of each image equals what Keras gives, in float32 and float64.
void check_case(const char* name, const std::function<Tensor(const Tensor& image)>& function) {
  const nlohmann::json& expected = recorded("augmentations").at("cases").at(name);
  const Tensor input = recorded_tensor(expected.at("input")), output = recorded_tensor(expected.at("output"));
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (std::int64_t i = 0; i < input.shape()[0]; ++i) {
      const Tensor got = function(image_of(input, i).cast(dtype));
      BOOST_TEST((got.dtype() == dtype), name);
      // Keras computes ranges of values and places in float32.
      BOOST_TEST(far(got, image_of(output, i)) <= 5e-5, name << " " << i << ": " << far(got, image_of(output, i)));
    }
  }
}

/// augment() of a layer with a fixed factor equals what Keras gives.
template <class L>
void check_layer(const char* name, const L& layer) {
  check_case(name, [&](const Tensor& x) { return layer.augment(x, {5, 1, 2}); });
}

Tensor pictures(const Shape& shape) {
  Tensor x = random_tensor(shape).cast(DType::float32);
  float* const numbers = x.mutable_data<float>();
  for (std::int64_t i = 0; i < x.size(); ++i) numbers[i] = std::abs(std::fmod(numbers[i], 1.0F)) * 255;
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(augmentations)

BOOST_AUTO_TEST_CASE(colors_equal_keras) {
  check_case("hue", [](const Tensor& x) { return with_hue(x, 0.3, 0, 255); });
  check_case("hue_back", [](const Tensor& x) { return with_hue(x, -0.45, 0, 1); });
  check_layer("saturation", RandomSaturation({.factor = {0.3, 0.3}}));
  check_layer("saturation_more", RandomSaturation({.factor = {0.7, 0.7}, .value_range = {0, 1}}));
  check_layer("degeneration", RandomColorDegeneration({.factor = {0.4, 0.4}}));
  check_layer("sharpness", RandomSharpness({.factor = {0.9, 0.9}}));
  check_layer("sharpness_smooth", RandomSharpness({.factor = {0.2, 0.2}, .value_range = {0, 200}}));
  check_layer("grayscale", RandomGrayscale(1));
  check_layer("invert", RandomInvert({.factor = {1, 1}}));
  check_layer("posterization", RandomPosterization({.factor = {3, 3}}));
  check_layer("posterization_unit", RandomPosterization({.factor = {2, 2}, .value_range = {0, 1}}));
  check_layer(
      "jitter",
      RandomColorJitter({.brightness_factor = {0.1, 0.1}, .contrast_factor = {0, 0}, .saturation_factor = {0.4, 0.4}}));
  check_case("blur", [](const Tensor& x) { return blurred(x, {3, 5}, {0.8, 0.4}); });
}

BOOST_AUTO_TEST_CASE(tones_equal_keras) {
  check_case("solarization", [](const Tensor& x) { return solarized(x, 20, 140, 0, 255); });
  check_layer("solarization_unit",
              Solarization({.addition_factor = {0.2, 0.2}, .threshold_factor = {0.4, 0.4}, .value_range = {0, 1}}));
  check_layer("equalization", Equalization());
  check_layer("equalization_bins", Equalization({.bins = 16}));
  check_layer("equalization_unit", Equalization({.value_range = {0, 1}}));
  check_layer("contrast", AutoContrast());
  check_layer("contrast_unit", AutoContrast({.value_range = {0, 1}}));
  check_layer("contrast_flat", AutoContrast());
}

BOOST_AUTO_TEST_CASE(places_equal_keras) {
  const Sampling constant{"constant", "bilinear", 9};
  check_case("shear", [&](const Tensor& x) { return transformed(x, {1, 0.3, 0, -0.2, 1, 0}, constant); });
  const std::array<double, 8> start{0, 0, 4, 0, 0, 5, 4, 5};
  std::array<double, 8> end{0, 0, 3.2, 0, 0, 5.75, 4.4, 3.75};
  check_case("perspective", [&](const Tensor& x) {
    return in_perspective(x, perspective_of(start, end), {"constant", "bilinear", 5});
  });
  check_layer("crop_equal", RandomCrop(6, 3));
  check_layer("crop_small", RandomCrop(9, 4));
  check_layer("crop_wide", RandomCrop(4, 8));
}

BOOST_AUTO_TEST_CASE(crossings_equal_keras) {
  const nlohmann::json& expected = recorded("augmentations").at("crossings");
  const auto words = recorded("augmentations").at("words").get<std::vector<std::string>>();
  const auto numbers = recorded("augmentations").at("integers").get<std::vector<std::int64_t>>();
  const Strings texts = words, reversed_texts = std::vector<std::string>(words.rbegin(), words.rend());
  const Tensor ints({5}, numbers), reversed({5}, std::vector<std::int64_t>(numbers.rbegin(), numbers.rend()));
  const auto wanted = [&](const char* name) { return recorded_tensor(expected.at(name)); };
  BOOST_TEST(HashedCrossing(1000003).of_columns({texts, reversed_texts}).equal(wanted("strings")));
  BOOST_TEST(HashedCrossing(1000003).of_columns({texts, ints}).equal(wanted("mixed")));
  HashedCrossing wide(1000003), few(3), five(5), rows(5, {.output_mode = "one_hot"});
  BOOST_TEST(wide({ints, reversed, ints}).tensor().equal(wanted("integers")));
  BOOST_TEST(few({ints, reversed}).tensor().equal(wanted("few")));
  const Tensor a({2, 1}, std::vector<std::int64_t>{1, 2}), b({2, 1}, std::vector<std::int64_t>{3, 4});
  BOOST_TEST(five({a, b}).tensor().equal(wanted("columns")));
  BOOST_TEST(rows({a, b}).tensor().equal(wanted("one_hot")));
  BOOST_TEST(refused<ValueError>([&] { five({a}); }) == "[HashedCrossing] inputs must be two or more; got 1");
  BOOST_TEST(refused<ShapeError>([&] {
               five({a, ints});
             }) == "[HashedCrossing] inputs must have one shape; got (2, 1) and (5,)");
  BOOST_TEST(refused<DTypeError>([&] {
               five({Tensor({2}), Tensor({2})});
             }) == "[HashedCrossing] inputs must be integers or strings; got float32");
  BOOST_TEST(refused<ValueError>([] { HashedCrossing(0); }) == "[HashedCrossing] num_bins must be at least 1; got 0");
  BOOST_TEST(refused<NameError>([] { HashedCrossing(3, {.output_mode = "count"}); }) ==
             "[HashedCrossing] unknown output_mode \"count\"; valid names: int, one_hot");
}

BOOST_AUTO_TEST_CASE(models_and_loaders_give_equal_images) {
  const Tensor images = pictures({3, 8, 7, 3});
  const auto check = [&](auto layer, bool kept_in_inference = true) {
    Trace trace(Trace::Mode::eager, true);
    const Tensor batch = layer(trace.input("x", images)).tensor();
    const auto change = layer.on_samples();
    int moved = 0;
    for (std::int64_t i = 0; i < 3; ++i) {
      const Tensor one = image_of(images, i);
      BOOST_TEST(change(one, i, 0).equal(image_of(batch, i)), i);
      BOOST_TEST(change(one, i, 1).equal(layer.augment(one, {.seed = 5, .epoch = 1, .index = i})));
      for (std::int64_t epoch = 1; epoch < 8; ++epoch) moved += change(one, i, epoch).equal(change(one, i, 0)) ? 0 : 1;
    }
    BOOST_TEST(moved > 0);
    if (kept_in_inference) BOOST_TEST(layer(Values{images}, {.training = false})[0].tensor().equal(images));
  };
  check(RandomCrop(4, 5, {.seed = 5}), false);
  check(RandomErasing(0.9, {.seed = 5}));
  check(RandomGaussianBlur({.seed = 5}));
  check(RandomShear(0.3, 0.2, {.seed = 5}));
  check(RandomPerspective({.seed = 5}));
  check(RandomElasticTransform({.seed = 5}));
  check(RandomHue(0.5, {.seed = 5}));
  check(RandomSaturation(0.5, {.seed = 5}));
  check(RandomColorDegeneration(0.5, {.seed = 5}));
  check(RandomSharpness(1, {.seed = 5}));
  check(RandomGrayscale(0.5, {.seed = 5}));
  check(RandomInvert({.seed = 5}));
  check(RandomPosterization(4, {.seed = 5}));
  check(RandomColorJitter(
      {.brightness_factor = 0.3, .contrast_factor = 0.3, .saturation_factor = 0.3, .hue_factor = 0.3, .seed = 5}));
  check(Solarization(0.2, 0.5, {.seed = 5}));
  check(RandAugment({.seed = 5}));
  check(AugMix({.seed = 5}));
}

BOOST_AUTO_TEST_CASE(in_inference) {
  const Tensor images = pictures({2, 8, 6, 3});
  RandomCrop crop(4, 4);
  const Tensor middle = crop(Values{images}, {.training = false})[0].tensor();
  BOOST_TEST((middle.shape() == Shape{2, 4, 4, 3}));
  // The largest square, rows 1 to 6, resized.
  RandomCrop square(6, 6);
  const Tensor kept = square(Values{images}, {.training = false})[0].tensor();
  BOOST_TEST(image_of(kept, 1).equal(part_of(image_of(images, 1), 1, 0, 6, 6)));
  AutoContrast contrast;
  BOOST_TEST(contrast(Values{images}, {.training = false})[0].tensor().equal(
      contrast(Values{images}, {.training = true})[0].tensor()));
  Equalization equalization;
  BOOST_TEST(equalization(Values{images}, {.training = false})[0].tensor().equal(images));
}

BOOST_AUTO_TEST_CASE(crops_at_all_places) {
  Tensor x({5, 6, 1}, DType::uint8);
  for (std::int64_t i = 0; i < 30; ++i) x.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
  const RandomCrop crop(3, 3);
  std::vector<int> seen(30);
  for (std::int64_t i = 0; i < 1200; ++i) {
    const std::vector<double> part = crop.augment(x, {.seed = 1, .epoch = 0, .index = i}).to_doubles();
    BOOST_REQUIRE(part[8] == part[0] + 14);
    ++seen[static_cast<std::size_t>(part[0])];
  }
  // Twelve places of 100 each, whose deviation is less than 10.
  for (std::size_t place = 0; place < seen.size(); ++place) {
    const bool valid = place / 6 < 3 && place % 6 < 4;
    BOOST_TEST((valid ? seen[place] > 60 && seen[place] < 140 : seen[place] == 0), place << ": " << seen[place]);
  }
  BOOST_TEST(crop.augment(x, {}).describe() == "float32 (3, 3, 1)");
}

BOOST_AUTO_TEST_CASE(shares_and_ranges) {
  const Tensor x = pictures({20, 20, 3});
  const auto changed = [&](const auto& layer) {
    int count = 0;
    for (std::int64_t i = 0; i < 400; ++i) count += layer.augment(x, {2, 0, i}).equal(x) ? 0 : 1;
    return count;
  };
  // Shares of 400: deviations are below 10.
  BOOST_TEST(std::abs(changed(RandomGrayscale(0.25)) - 100) < 40);
  BOOST_TEST(std::abs(changed(RandomInvert({.factor = {0.75, 0.75}})) - 300) < 40);
  BOOST_TEST(std::abs(changed(RandomErasing({.factor = {0.5, 0.5}})) - 200) < 40);
  BOOST_TEST(std::abs(changed(RandomInvert()) - 200) < 40);
  BOOST_TEST(changed(RandomErasing(0)) == 0);
  BOOST_TEST(changed(RandomPerspective({.scale = 0})) == 0);
  const RandomErasing erasing({.factor = {1, 1}, .scale = {0.04, 0.25}, .fill_value = 300});
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::vector<double> out = erasing.augment(x, {3, 0, i}).to_doubles(), in = x.to_doubles();
    int erased = 0;
    for (std::size_t k = 0; k < out.size(); k += 3) {
      BOOST_REQUIRE((out[k] == in[k] || out[k] == 255));
      erased += out[k] != in[k] ? 1 : 0;
    }
    // Sides of 4 to 10 pixels.
    BOOST_TEST((erased >= 16 && erased <= 100), erased);
  }
  const RandomPosterization bits(RandomPosterizationOptions{.factor = {2, 4}});
  std::set<double> levels;
  for (std::int64_t i = 0; i < 50; ++i) {
    for (const double number : bits.augment(x, {3, 0, i}).to_doubles()) levels.insert(number);
  }
  BOOST_TEST(levels.size() == 8U);  // 3 bits; 2 bits are some of these
}

BOOST_AUTO_TEST_CASE(empty_batches) {
  const Tensor none({0, 8, 8, 3});
  const auto check = [&](auto layer, const Shape& wanted) {
    BOOST_TEST((layer(Values{none}, {.training = true})[0].shape() == wanted));
  };
  check(RandomCrop(4, 5), {0, 4, 5, 3});
  check(RandomColorJitter({.hue_factor = 0.5}), {0, 8, 8, 3});
  check(RandAugment(), {0, 8, 8, 3});
  BOOST_TEST(RandomCrop(2, 2).augment(Tensor({0, 4, 3}), {}).describe() == "float32 (2, 2, 3)");
}

BOOST_AUTO_TEST_CASE(unusual_numbers) {
  // NaN stays in its pixel, and integers become floats.
  Tensor x({2, 2, 3});
  x.mutable_data<float>()[0] = NAN;
  for (const Tensor& out : {Equalization().augment(x, {}), RandomPosterization({.factor = {2, 2}}).augment(x, {}),
                            AutoContrast().augment(x, {}), RandAugment().augment(x, {})}) {
    BOOST_TEST(out.describe() == "float32 (2, 2, 3)");
  }
  const Tensor bytes({1, 1, 3}, std::vector<std::uint8_t>{10, 200, 30});
  BOOST_TEST(far(RandomInvert({.factor = {1, 1}}).augment(bytes, {}),
                 Tensor({1, 1, 3}, std::vector<double>{245, 55, 225})) == 0);
}

BOOST_AUTO_TEST_CASE(refused_options) {
  BOOST_TEST(refused<ValueError>([] { RandomCrop(0, 4); }) == "[RandomCrop] height must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { RandomHue(1.5); }) ==
             "[RandomHue] factor must be one or two numbers in [0, 1]; got (1.5)");
  BOOST_TEST(refused<ValueError>([] { RandomHue(NAN); }) ==
             "[RandomHue] factor must be one or two numbers in [0, 1]; got (nan)");
  BOOST_TEST(refused<ValueError>([] { RandomSharpness(RandomSharpnessOptions{}); }) ==
             "[RandomSharpness] factor is required; got none");
  BOOST_TEST(refused<ValueError>([] { RandomGrayscale(-1); }) == "[RandomGrayscale] factor must be in [0, 1]; got -1");
  BOOST_TEST(refused<ValueError>([] { RandomPosterization(2.5); }) ==
             "[RandomPosterization] factor must be whole numbers; got 2.5");
  BOOST_TEST(refused<ValueError>([] { RandomPosterization(0); }) ==
             "[RandomPosterization] factor must be one or two numbers in [1, 8]; got (0)");
  BOOST_TEST(refused<ValueError>([] { RandomGaussianBlur({.kernel_size = 4}); }) ==
             "[RandomGaussianBlur] kernel_size must be odd; got (4, 4)");
  BOOST_TEST(refused<ValueError>([] {
               RandomErasing({.fill_value = {1, 2}});
             }) == "[RandomErasing] fill_value must be one number or three; got (1, 2)");
  BOOST_TEST(refused<ValueError>([] { RandomPerspective({.scale = 2}); }) ==
             "[RandomPerspective] scale must be in [0, 1]; got 2");
  BOOST_TEST(refused<NameError>([] { RandomElasticTransform({.fill_mode = "mirrors"}); }) ==
             "[RandomElasticTransform] unknown fill_mode \"mirrors\"; valid names: constant, mirror, nearest, reflect, "
             "wrap; nearest: \"mirror\"");
  BOOST_TEST(refused<NameError>([] { RandAugment({.interpolation = "cubic"}); }) ==
             "[RandAugment] unknown interpolation \"cubic\"; valid names: bilinear, nearest");
  BOOST_TEST(refused<ValueError>([] { RandAugment({.num_ops = -1}); }) ==
             "[RandAugment] num_ops must be 0 or more; got -1");
  BOOST_TEST(refused<ValueError>([] { AugMix({.alpha = 0}); }) == "[AugMix] alpha must be above 0; got 0");
  BOOST_TEST(refused<ValueError>([] { Equalization({.bins = 1}); }) ==
             "[Equalization] bins must be in [2, 65536]; got 1");
  BOOST_TEST(refused<ValueError>([] {
               AutoContrast({.value_range = {3, 3}});
             }) == "[AutoContrast] value_range must be two numbers in order; got (3, 3)");
  BOOST_TEST(refused<ShapeError>([] {
               RandomHue(0.1)(Value(Tensor({2, 4, 4, 1})));
             }) == "[RandomHue] images must have 3 channels; got shape (2, 4, 4, 1)");
  BOOST_TEST(refused<ShapeError>([] {
               RandomGrayscale().augment(Tensor({4, 4, 2}), {});
             }) == "[RandomGrayscale] images must have 1 or 3 channels; got shape (4, 4, 2)");
  BOOST_TEST(refused<ShapeError>([] {
               RandomCrop(2, 2)(Value(Tensor({4, 4})));
             }) == "[RandomCrop] input must have 3 axes, or 4 with a batch; got shape (4, 4)");
}

BOOST_AUTO_TEST_SUITE_END()
