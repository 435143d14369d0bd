// Preprocessing layers: values of Keras, random changes in the model and in the loader, errors.
#include <boost/test/unit_test.hpp>

#include <mezzo/data/loader.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/images/image_augmentation.hpp>
#include <mezzo/layers/preprocessing/category_encoding.hpp>
#include <mezzo/layers/preprocessing/discretization.hpp>
#include <mezzo/layers/preprocessing/integer_lookup.hpp>
#include <mezzo/layers/preprocessing/normalization.hpp>
#include <mezzo/layers/preprocessing/resizing.hpp>
#include <mezzo/nn/input.hpp>
#include <mezzo/training/model/sequential.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const nlohmann::json& family(const char* name) { return recorded("preprocessing").at(name); }

/// Largest difference, relative to numbers above 1.
double distance(const Tensor& got, const Tensor& wanted) {
  if (got.shape() != wanted.shape()) return HUGE_VAL;
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(a[i] - b[i]) / std::max(1.0, std::abs(b[i])));
  return most;
}

template <class L>
void check_array(const std::string& name, L layer, double tolerance = 1e-6) {
  const nlohmann::json& expected = family("arrays").at(name);
  if constexpr (std::is_same_v<L, Normalization> || std::is_same_v<L, Discretization>) {
    for (const auto& adapted : expected.at("adapted")) layer.adapt(recorded_tensor(adapted));
  }
  const Tensor out = layer(Value(recorded_tensor(expected.at("input")))).tensor();
  BOOST_TEST(distance(out, recorded_tensor(expected.at("output"))) <= tolerance, name << ": " << out.describe());
}

/// A layer of a fixed factor, in float32 and float64, in the model and in the loader.
void check_augmentation(const std::string& name, const std::function<Any<Layer>(const Policy&)>& make) {
  const nlohmann::json& expected = family("augmentations").at(name);
  const Tensor input = recorded_tensor(expected.at("input")), wanted = recorded_tensor(expected.at("output"));
  // Keras makes the transforms in float32.
  const double tolerance = 5e-5;
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Any<Layer> layer = make(Policy(dtype));
    const Tensor out = (*layer)(Values{input.cast(dtype)}, {.training = true})[0].tensor();
    BOOST_TEST((out.dtype() == dtype));
    BOOST_TEST(distance(out, wanted) <= tolerance, name << ": " << distance(out, wanted));
    BOOST_TEST((*layer)(Values{input.cast(dtype)}, {.training = false})[0].tensor().equal(input.cast(dtype)), name);
  }
}

Tensor noise(const Shape& shape) { return random_tensor(shape); }

IntegerLookup integer_lookup(const IntegerLookupOptions& options, bool adapt) {
  IntegerLookup layer(options);
  if (adapt)
    layer.adapt(
        recorded_tensor({{"shape", {3, 4}}, {"dtype", "int64"}, {"data", {1, 5, 7, 7, 9, 5, 2, 12, 0, -3, 1, 5}}}));
  return layer;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(preprocessing)

BOOST_AUTO_TEST_CASE(arrays_equal_keras) {
  const detail::PolicyScope policy{Policy(DType::float64)};
  check_array("normalization", Normalization());
  check_array("normalization_none", Normalization({.axis = {}}));
  check_array("normalization_axes", Normalization({.axis = {1, 3}}));
  check_array("normalization_invert", Normalization({.invert = true}));
  check_array("normalization_given", Normalization({.mean = array({3.0, 1.0, 0.5, 2.0}, DType::float64),
                                                    .variance = array({2.0, 1.0, 4.0, 0.0}, DType::float64)}));
  check_array("normalization_scalar",
              Normalization({.mean = array(3.0, DType::float64), .variance = array(2.0, DType::float64)}));
  check_array("discretization", Discretization({.bin_boundaries = {0, 1, 2}}));
  for (const char* mode : {"one_hot", "multi_hot", "count"}) {
    check_array(std::string("discretization_") + mode, Discretization({.bin_boundaries = {0, 1}, .output_mode = mode}));
  }
  check_array("discretization_adapt", Discretization({.num_bins = 4}));
  check_array("discretization_coarse", Discretization({.num_bins = 3, .epsilon = 0.1}));
  check_array("category_one_hot", CategoryEncoding(4, {.output_mode = "one_hot"}));
  check_array("category_multi_hot", CategoryEncoding(4));
  check_array("category_count", CategoryEncoding(5, {.output_mode = "count"}));
  check_array("category_list", CategoryEncoding(4, {.output_mode = "one_hot"}));
  check_array("resizing", Resizing(4, 7));
  // Bytes of 100 and more differ by 1 where sums in another order are not the same side of a half.
  check_array("resizing_bytes", Resizing(3, 8), 0.01);
  check_array("resizing_crop", Resizing(4, 4, {.interpolation = "bicubic", .crop_to_aspect_ratio = true}));
  check_array("resizing_pad", Resizing(4, 6, {.pad_to_aspect_ratio = true, .fill_value = 7}));
  check_array("resizing_antialias", Resizing(3, 2, {.antialias = true}));
  check_array("center_crop", CenterCrop(3, 4));
  check_array("center_crop_small", CenterCrop(9, 4));
  check_array("center_crop_single", CenterCrop(4, 3));
}

BOOST_AUTO_TEST_CASE(integer_lookups_equal_keras) {
  const std::vector<std::int64_t> vocabulary{5, 7, 1};
  const auto check = [](const std::string& name, const IntegerLookupOptions& options) {
    const nlohmann::json& expected = family("integer_lookups").at(name);
    IntegerLookup layer = integer_lookup(options, options.vocabulary.empty());
    const auto tokens = expected.at("vocabulary").get<std::vector<std::int64_t>>();
    BOOST_TEST(layer.get_vocabulary() == tokens, name);
    const Tensor ints = Tensor({3, 4}, std::vector<std::int64_t>{1, 5, 7, 7, 9, 5, 2, 12, 0, -3, 1, 5});
    BOOST_TEST(distance(layer(Value(ints)).tensor(), recorded_tensor(expected.at("output"))) <= 1e-6, name);
  };
  check("int", {.vocabulary = vocabulary});
  check("mask", {.mask_token = 0, .vocabulary = vocabulary});
  check("several", {.num_oov_indices = 3, .vocabulary = vocabulary});
  check("farmhash", {.num_oov_indices = 3, .vocabulary = vocabulary, .oov_method = "farmhash"});
  check("salt", {.num_oov_indices = 3, .vocabulary = vocabulary, .oov_method = "farmhash", .salt = {133}});
  check("invert", {.vocabulary = vocabulary, .invert = true});
  check("multi_hot", {.vocabulary = vocabulary, .output_mode = "multi_hot"});
  check("adapt", {});
  check("adapt_tf_idf", {.max_tokens = 4, .output_mode = "tf_idf"});
}

BOOST_AUTO_TEST_CASE(hashing_equals_keras) {
  const nlohmann::json& expected = family("hashes");
  const Strings texts = expected.at("strings").get<std::vector<std::string>>();
  BOOST_TEST(Hashing(1000003).of_strings(texts).equal(recorded_tensor(expected.at("farm"))));
  BOOST_TEST(Hashing(10, {.mask_value = {"A"}}).of_strings(texts).equal(recorded_tensor(expected.at("mask"))));
  const Tensor ints = Tensor({3, 4}, std::vector<std::int64_t>{1, 5, 7, 7, 9, 5, 2, 12, 0, -3, 1, 5});
  Hashing integers(11, {.mask_value = {"5"}});
  BOOST_TEST(integers(Value(ints)).tensor().equal(recorded_tensor(expected.at("integers"))));
  Hashing one_hot(3, {.salt = {133}, .output_mode = "one_hot"});
  const Tensor rows = one_hot(Value(Tensor({2, 1}, std::vector<std::int64_t>{1, 2}))).tensor();
  BOOST_TEST(distance(rows, recorded_tensor(expected.at("one_hot"))) == 0);
}

BOOST_AUTO_TEST_CASE(augmentations_equal_keras) {
  const auto check = [](const char* name, const auto& options) {
    using Options = std::decay_t<decltype(options)>;
    check_augmentation(name, [&](const Policy& policy) -> Any<Layer> {
      Options given = options;
      given.dtype = policy;
      if constexpr (std::is_same_v<Options, RandomRotationOptions>) return RandomRotation(given);
      if constexpr (std::is_same_v<Options, RandomZoomOptions>) return RandomZoom(given);
      if constexpr (std::is_same_v<Options, RandomTranslationOptions>) return RandomTranslation(given);
      if constexpr (std::is_same_v<Options, RandomBrightnessOptions>) return RandomBrightness(given);
      if constexpr (std::is_same_v<Options, RandomContrastOptions>) return RandomContrast(given);
    });
  };
  check("rotation", RandomRotationOptions{.factor = {0.1, 0.1}});
  check("rotation_wrap", RandomRotationOptions{.factor = {-0.3, -0.3}, .fill_mode = "wrap"});
  check("rotation_constant", RandomRotationOptions{.factor = {0.2, 0.2}, .fill_mode = "constant", .fill_value = 9});
  check("rotation_nearest",
        RandomRotationOptions{.factor = {0.13, 0.13}, .fill_mode = "nearest", .interpolation = "nearest"});
  check("rotation_single", RandomRotationOptions{.factor = {0.1, 0.1}});
  check("zoom", RandomZoomOptions{.height_factor = {0.3, 0.3}});
  check("zoom_in",
        RandomZoomOptions{
            .height_factor = {-0.4, -0.4}, .width_factor = detail::Factor{0.2, 0.2}, .fill_mode = "constant"});
  check("translation", RandomTranslationOptions{.height_factor = {0.3, 0.3}, .width_factor = {-0.25, -0.25}});
}

BOOST_AUTO_TEST_CASE(changes_of_values) {
  const Policy wide("float64");
  const nlohmann::json& expected = family("augmentations").at("brightness");
  const Tensor input = recorded_tensor(expected.at("input"));
  RandomBrightness brightness({.factor = {0.2, 0.2}, .dtype = wide});
  const Tensor bright = brightness(Values{input}, {.training = true})[0].tensor();
  BOOST_TEST(distance(bright, recorded_tensor(expected.at("output"))) <= 1e-6);
  RandomContrast same({.factor = {0, 0}, .dtype = wide});
  const Tensor kept = same(Values{input}, {.training = true})[0].tensor();
  BOOST_TEST(distance(kept, recorded_tensor(family("augmentations").at("contrast").at("output"))) <= 1e-12);
  // Contrast is the same for all pixels; a channel's mean stays.
  const Tensor image({1, 2, 1}, std::vector<double>{40, 60});
  const std::vector<double> out =
      RandomContrast(0.4, {.value_range = {0, 100}}).augment(image, {.seed = 3, .epoch = 1, .index = 4}).to_doubles();
  BOOST_TEST(std::abs(out[0] + out[1] - 100) < 1e-9);
  BOOST_TEST((out[1] - out[0] >= 20 && out[1] - out[0] < 28));
}

BOOST_AUTO_TEST_CASE(models_and_loaders_give_equal_images) {
  const Tensor images = noise({3, 6, 5, 2});
  const auto check = [&](auto layer) {
    Trace trace(Trace::Mode::eager, true);
    const Tensor batch = layer(trace.input("x", images)).tensor();
    const auto change = layer.on_samples();
    int moved = 0;
    for (std::int64_t i = 0; i < 3; ++i) {
      const Tensor one = images.slice(i, i + 1).reshape({6, 5, 2});
      BOOST_TEST(change(one, i, 0).equal(batch.slice(i, i + 1).reshape({6, 5, 2})), i);
      BOOST_TEST(change(one, i, 1).equal(layer.augment(one, {.seed = 5, .epoch = 1, .index = i})));
      moved += change(one, i, 1).equal(change(one, i, 0)) ? 0 : 1;
    }
    BOOST_TEST(moved > 0);
  };
  check(RandomFlip("horizontal", {.seed = 5}));
  check(RandomFlip({.seed = 5}));
  check(RandomRotation(0.2, {.seed = 5}));
  check(RandomZoom(0.3, {.seed = 5}));
  check(RandomTranslation(0.2, 0.1, {.seed = 5}));
  check(RandomContrast(0.5, {.value_range = {-1, 1}, .seed = 5}));
  check(RandomBrightness(0.5, {.value_range = {-1, 1}, .seed = 5}));
}

BOOST_AUTO_TEST_CASE(random_layers_outside_of_steps) {
  const Tensor images = noise({2, 5, 5, 1});
  RandomRotation rotate({.factor = {0.1, 0.1}});
  const Tensor rotated = rotate(images, {.training = true}).tensor();
  BOOST_TEST(!rotated.equal(images));
  BOOST_TEST(rotate(images).tensor().equal(rotated));
  BOOST_TEST(rotate(images, {.training = false}).tensor().equal(images));
  Sequential model({Input({5, 5, 1}), rotate});
  BOOST_TEST(model(images).tensor().equal(rotated));
  BOOST_TEST(model(images, {.training = false}).tensor().equal(images));
  BOOST_TEST(model.predict(images).equal(images));
}

BOOST_AUTO_TEST_CASE(random_layers_in_loaders) {
  const Dataset data = Dataset::from_tensors({{"image", noise({8, 4, 4, 1})}});
  const Dataset turned = data.map("image", RandomRotation(0.5, {.seed = 3}).on_samples());
  std::vector<Tensor> seen;
  for (const int workers : {0, 2}) {
    seen.push_back(DataLoader(turned, {.batch_size = 8, .workers = workers}).epoch(1).next()->fields[0].tensor);
  }
  BOOST_TEST(seen[0].equal(seen[1]));
  BOOST_TEST(!seen[0].equal(turned.gather({0, 1, 2, 3, 4, 5, 6, 7})["image"]));
  const Tensor bytes({2, 2, 1}, std::vector<std::uint8_t>{1, 2, 3, 4});
  BOOST_TEST(RandomFlip().augment(bytes, {}).describe() == "float32 (2, 2, 1)");
}

BOOST_AUTO_TEST_CASE(policies) {
  for (const char* name : {"mixed_bfloat16", "mixed_float16"}) {
    const Tensor x = noise({2, 4, 4, 3});
    const double bound = std::string(name) == "mixed_bfloat16" ? 2e-2 : 2e-3;
    const auto check = [&](auto narrow, auto wide) {
      const Value out = narrow(Values{x}, {.training = true})[0];
      BOOST_TEST((out.dtype() == narrow.compute_dtype()));
      BOOST_TEST(distance(out.tensor(), wide(Values{x}, {.training = true})[0].tensor()) <= bound);
    };
    check(RandomRotation({.factor = 0.2, .seed = 1, .dtype = name}), RandomRotation(0.2, {.seed = 1}));
    check(CenterCrop(2, 2, {.dtype = name}), CenterCrop(2, 2));
    check(Normalization({.mean = array(0.5), .variance = array(4.0), .dtype = name}),
          Normalization({.mean = array(0.5), .variance = array(4.0)}));
  }
}

BOOST_AUTO_TEST_CASE(adapting) {
  const Tensor rows = noise({10, 3});
  const Dataset data = Dataset::from_tensors({{"x", rows}, {"y", Tensor({10}), Role::target}});
  Normalization one, other;
  one.adapt(rows);
  other.adapt(data);
  BOOST_TEST(one.get_weights()[0].equal(other.get_weights()[0]));
  const Normalization copy = one;
  BOOST_TEST(copy.get_weights()[1].equal(one.get_weights()[1]));
  BOOST_TEST(refused<NameError>([&] { other.adapt(data, "z"); }) ==
             "[Normalization] adapt: unknown field \"z\"; valid names: x, y");
  BOOST_TEST(refused<ShapeError>([&] {
               one.adapt(Tensor({0, 3}));
             }) == "[Normalization] adapt: the array must have numbers; got shape (0, 3)");
  Normalization given({.mean = array(1.0), .variance = array(1.0), .name = "n"});
  BOOST_TEST(refused<ValueError>([&] { given.adapt(rows); }) ==
             "[Normalization \"n\"] adapt: mean and variance were given and can't be adapted");
  Discretization bins({.bin_boundaries = {1}});
  BOOST_TEST(refused<ValueError>([&] { bins.adapt(rows); }) ==
             "[Discretization] adapt: bin_boundaries were given and can't be adapted");
  Discretization empty({.num_bins = 3});
  BOOST_TEST(refused<ValueError>([&] { empty(Value(rows)); }) ==
             "[Discretization] there are no boundaries; give bin_boundaries or call adapt()");
}

BOOST_AUTO_TEST_CASE(refused_options) {
  BOOST_TEST(refused<ValueError>([] { Normalization({.mean = array(1.0)}); }) ==
             "[Normalization] mean and variance must be given together; got mean alone");
  BOOST_TEST(refused<ValueError>([] { Discretization(); }) ==
             "[Discretization] one of bin_boundaries and num_bins must be given; got neither");
  BOOST_TEST(refused<ValueError>([] {
               Discretization({.bin_boundaries = {2, 1}});
             }) == "[Discretization] bin_boundaries must be in ascending order; got (2, 1)");
  BOOST_TEST(refused<ValueError>([] { CategoryEncoding(0); }) ==
             "[CategoryEncoding] num_tokens must be at least 1; got 0");
  BOOST_TEST(refused<NameError>([] { CategoryEncoding(3, {.output_mode = "int"}); }) ==
             "[CategoryEncoding] unknown output_mode \"int\"; valid names: count, multi_hot, one_hot");
  BOOST_TEST(refused<ValueError>([] { CategoryEncoding(3)(Value(Tensor({1}, std::vector<std::int64_t>{3}))); }) ==
             "[CategoryEncoding] indices must lie in [0, 3); got 3");
  BOOST_TEST(refused<DTypeError>([] { CategoryEncoding(3)(Value(Tensor({1}))); }) ==
             "[CategoryEncoding] input must be integers; got float32");
  const Value one(Tensor({1}, std::vector<std::int64_t>{9}));
  BOOST_TEST(refused<ValueError>([&] { IntegerLookup({.num_oov_indices = 0, .vocabulary = {1}})(one); }) ==
             "[IntegerLookup] \"9\" is not in the vocabulary; use num_oov_indices = 1 for unknown tokens");
  BOOST_TEST(refused<ValueError>([&] { IntegerLookup()(one); }).find("[IntegerLookup] there is no vocabulary") == 0);
  BOOST_TEST(refused<ValueError>([] { Hashing(0); }) == "[Hashing] num_bins must be at least 1; got 0");
  BOOST_TEST(refused<NameError>([] { Resizing(2, 2, {.interpolation = "area"}); }) ==
             "[Resizing] unknown interpolation \"area\"; valid names: bicubic, bilinear, lanczos3, lanczos5, nearest");
  BOOST_TEST(refused<ShapeError>([] {
               CenterCrop(2, 2)(Value(Tensor({4, 4})));
             }) == "[CenterCrop] input must be images, with or without a batch; got shape (4, 4)");
  BOOST_TEST(refused<ValueError>([] { RandomRotation(1.5); }) ==
             "[RandomRotation] factor must be one or two numbers in [-1, 1]; got (1.5)");
  BOOST_TEST(refused<ValueError>([] { RandomZoom(RandomZoomOptions{}); }) ==
             "[RandomZoom] height_factor is required; got none");
  BOOST_TEST(refused<ValueError>([] { RandomZoom(-1); }) ==
             "[RandomZoom] height_factor must be one or two numbers in (-1, 1]; got (-1)");
  BOOST_TEST(refused<NameError>([] { RandomTranslation(0.1, 0.1, {.fill_mode = "mirror"}); }) ==
             "[RandomTranslation] unknown fill_mode \"mirror\"; valid names: constant, nearest, reflect, wrap");
  BOOST_TEST(refused<NameError>([] { RandomFlip("left"); }) ==
             "[RandomFlip] unknown mode \"left\"; valid names: horizontal, horizontal_and_vertical, vertical");
  BOOST_TEST(refused<ValueError>([] {
               RandomBrightness(0.1, {.value_range = {1, 0}});
             }) == "[RandomBrightness] value_range must be two numbers in order; got (1, 0)");
  BOOST_TEST(refused<ShapeError>([] {
               RandomFlip()(Value(Tensor({4, 4})));
             }) == "[RandomFlip] input must have 3 axes, or 4 with a batch; got shape (4, 4)");
}

BOOST_AUTO_TEST_CASE(normalization_by_two_numbers) {
  Normalization years({.mean = 2000, .variance = 4.0});
  BOOST_TEST(years(array({{1998.0, 2000.0, 2007.0}})).tensor().to_doubles() == (std::vector<double>{-1, 0, 3.5}));
  BOOST_TEST(years.weights().empty());
}

BOOST_AUTO_TEST_SUITE_END()
