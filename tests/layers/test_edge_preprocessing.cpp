// Preprocessing layers on unknown tokens, without a vocabulary, and on images of other sizes than those of the first
// call: what Keras gives (tests/parity/edge_preprocessing.py), or an error.
#include <boost/test/unit_test.hpp>

#include <functional>

#include <mezzo/mezzo.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Compares with Keras, or with the error here where `error` is given.
void check(const nlohmann::json& expected, const std::string& name, const std::function<Tensor()>& run,
           const std::string& error = "", double tolerance = 0) {
  BOOST_TEST_CONTEXT(name) {
    Tensor out;
    std::string thrown;
    try {
      out = run();
    } catch (const Error& refusal) {
      thrown = refusal.what();
    }
    BOOST_TEST(thrown == error);
    if (!thrown.empty() || !expected.contains("output")) return;
    const Tensor wanted = recorded_tensor(expected.at("output"));
    BOOST_TEST(out.shape() == wanted.shape());
    if (out.shape() != wanted.shape()) return;
    BOOST_TEST(largest_difference(out.cast(DType::float64), wanted.cast(DType::float64)) <= tolerance);
  }
}

void check_lookup(const std::string& name, const std::function<Tensor()>& run, const std::string& error = "") {
  check(recorded("edge_preprocessing").at("lookups").at(name), name, run, error);
}

/// The layer on an image, then on others of other sizes.
void check_images(const std::string& name, const Any<Layer>& layer) {
  const nlohmann::json& all = recorded("edge_preprocessing");
  const auto run = [&](const nlohmann::json& x) {
    return layer(recorded_tensor(x).cast(DType::float32), {.training = true}).tensor();
  };
  run(all.at("first"));
  for (const auto& item : all.at("others").items()) {
    const std::string full = name + "_" + item.key();
    check(
        all.at("images").at(full), full, [&] { return run(item.value()); }, "", 2e-2);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(edge_preprocessing)

BOOST_AUTO_TEST_CASE(strings) {
  const Strings words{{"b", "z"}}, none;
  const auto of = [&](const StringLookupOptions& options) {
    return [&words, options] { return StringLookup(options)(words); };
  };
  check_lookup("string_unknown", of({.vocabulary = {"a", "b"}}));
  check_lookup("string_counts_unknown", of({.vocabulary = {"a", "b"}, .output_mode = "multi_hot"}));
  check_lookup("string_without_oov", of({.num_oov_indices = 0, .vocabulary = {"a", "b"}}),
               "[StringLookup] \"z\" is not in the vocabulary; use num_oov_indices = 1 for unknown tokens");
  const std::string missing =
      "[StringLookup] there is no vocabulary; give `vocabulary` or call adapt() or set_vocabulary()";
  check_lookup("string_empty", of({}), missing);
  check_lookup("string_not_adapted", of({}), missing);
  check_lookup(
      "string_adapted_to_nothing",
      [&] {
        StringLookup lookup;
        lookup.adapt(none);
        return lookup(words);
      },
      "[StringLookup] adapt: the data must have tokens; got none");
}

BOOST_AUTO_TEST_CASE(texts) {
  const Strings lines{"dog z", ""}, none;
  const auto adapted = [&](const Strings& to) {
    return [&lines, to] {
      TextVectorization vectorize;
      vectorize.adapt(to);
      return vectorize(lines);
    };
  };
  check_lookup("text_unknown", [&] { return TextVectorization({.vocabulary = {"cat", "dog"}})(lines); });
  const std::string missing =
      "[TextVectorization] there is no vocabulary; give `vocabulary` or call adapt() or set_vocabulary()";
  check_lookup(
      "text_empty", [&] { return TextVectorization({.vocabulary = {}})(lines); }, missing);
  check_lookup(
      "text_not_adapted", [&] { return TextVectorization()(lines); }, missing);
  check_lookup("text_adapted_to_nothing", adapted(none),
               "[TextVectorization] adapt: the data must have tokens; got none");
  check_lookup("text_adapted_to_empty_texts", adapted({"", " "}),
               "[TextVectorization] adapt: the data must have tokens; got none");
}

BOOST_AUTO_TEST_CASE(integers) {
  const Tensor numbers({1, 2}, std::vector<std::int64_t>{7, 9});
  const auto of = [&](const IntegerLookupOptions& options) {
    return [&numbers, options] { return IntegerLookup(options)(Value(numbers)).tensor(); };
  };
  check_lookup("integer_unknown", of({.vocabulary = {5, 7}}));
  check_lookup("integer_counts_unknown", of({.vocabulary = {5, 7}, .output_mode = "multi_hot"}));
  check_lookup("integer_without_oov", of({.num_oov_indices = 0, .vocabulary = {5, 7}}),
               "[IntegerLookup] \"9\" is not in the vocabulary; use num_oov_indices = 1 for unknown tokens");
  const std::string missing =
      "[IntegerLookup] there is no vocabulary; give `vocabulary` or call adapt() or set_vocabulary()";
  check_lookup("integer_empty", of({}), missing);
  check_lookup("integer_not_adapted", of({}), missing);
  check_lookup(
      "integer_adapted_to_nothing",
      [&] {
        IntegerLookup lookup;
        lookup.adapt(Tensor({0}, DType::int64));
        return lookup(Value(numbers)).tensor();
      },
      "[IntegerLookup] adapt: the array must have integers; got shape (0,)");
}

BOOST_AUTO_TEST_CASE(images_of_other_sizes) {
  check_images("resizing", Resizing(3, 4));
  check_images("resizing_crop", Resizing(3, 4, {.crop_to_aspect_ratio = true}));
  check_images("resizing_pad", Resizing(3, 4, {.pad_to_aspect_ratio = true}));
  check_images("center_crop", CenterCrop(3, 4));
  check_images("rotation", RandomRotation({.factor = {0.1, 0.1}}));
  check_images("zoom", RandomZoom({.height_factor = {0.3, 0.3}}));
  check_images("translation", RandomTranslation({.height_factor = {0.3, 0.3}, .width_factor = {-0.25, -0.25}}));
  check_images("brightness", RandomBrightness({.factor = {0.2, 0.2}}));
}

// Layers with random numbers, by properties: any size after any other, and nothing for no image.
BOOST_AUTO_TEST_CASE(random_layers_take_any_size) {
  const std::vector<std::pair<Any<Layer>, Shape>> layers{
      {RandomFlip(), {}},          {RandomContrast(0.4), {}},      {RandomCrop(3, 4), {3, 4}},
      {RandomErasing(), {}},       {RandomShear(0.2, 0.2), {}},    {RandomPerspective(), {}},
      {RandomGaussianBlur(), {}},  {RandomElasticTransform(), {}}, {RandomHue(0.2), {}},
      {RandomSaturation(0.2), {}}, {RandomGrayscale(), {}},        {RandomInvert(), {}}};
  for (const auto& [layer, size] : layers) {
    BOOST_TEST_CONTEXT(layer->state()->kind) {
      for (const Shape& shape : {Shape{2, 6, 5, 3}, Shape{1, 1, 1, 3}, Shape{1, 2, 9, 3}, Shape{0, 6, 5, 3}}) {
        Shape expected = shape;
        std::copy(size.begin(), size.end(), expected.begin() + 1);
        Tensor y;
        try {
          y = layer(random_tensor(shape), {.training = true}).tensor();
        } catch (const Error& error) {
          BOOST_TEST(error.what() == "", to_string(shape));
          continue;
        }
        BOOST_TEST(y.shape() == expected);
        for (const double number : y.to_doubles()) BOOST_TEST(std::isfinite(number));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
