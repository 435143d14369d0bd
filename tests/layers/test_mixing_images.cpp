// MixUp and CutMix: values of Keras for given draws, models and loaders, distributions, errors.
#include <boost/test/unit_test.hpp>

#include <mezzo/data/loader.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/images/mixing_images.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A layer whose draw is given.
struct FixedOptions {
  std::optional<std::uint64_t> seed{};
  std::string name{};
  Policy dtype{};
};
class FixedMixing : public detail::ImageMixing {
 public:
  explicit FixedMixing(const detail::ImageMixture& mixture) : detail::ImageMixing("FixedMixing", FixedOptions{}) {
    set_draw([mixture](const Shape&, const image::SampleKey&) { return mixture; });
  }
};

double farthest(const Tensor& got, const Tensor& wanted) {
  if (got.shape() != wanted.shape()) return HUGE_VAL;
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

/// Labels of one class for each sample.
Tensor own_classes(std::int64_t count) {
  Tensor labels({count, count});
  for (std::int64_t i = 0; i < count; ++i) labels.mutable_data<float>()[i * count + i] = 1;
  return labels;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mixing_images)

BOOST_AUTO_TEST_CASE(equals_keras) {
  const auto check = [](const std::string& name, const detail::ImageMixture& mixture) {
    const nlohmann::json& cases = recorded("augmentations").at("cases");
    const nlohmann::json &images = cases.at(name), &labels = cases.at(name + "_labels");
    const std::vector<Tensor> out =
        FixedMixing(mixture).augment({recorded_tensor(images.at("input")), recorded_tensor(labels.at("input"))}, {});
    BOOST_TEST(farthest(out[0], recorded_tensor(images.at("output"))) <= 1e-9, name);
    BOOST_TEST(farthest(out[1], recorded_tensor(labels.at("output"))) <= 1e-6, name);
  };
  check("mix", {{1, 0}, {0.2, 0.9}, {}});
  // Corners 1.0 to 4.5 and 0.5 to 3.25; 0.2 to 5.9 and 1.0 to 2.0.
  check("cut", {{1, 0}, {1 - 2.75 * 3.5 / 30, 1 - 1.0 * 5.7 / 30}, {{1, 5, 1, 4}, {1, 6, 1, 2}}});
}

BOOST_AUTO_TEST_CASE(labels_follow_images) {
  // Images that are their labels: both are mixed alike.
  const std::int64_t count = 16;
  const Tensor labels = own_classes(count);
  const auto check = [&](const auto& layer, bool exact) {
    std::int64_t mixed = 0;
    for (std::int64_t index = 0; index < 8; ++index) {
      Tensor images({count, 40, 40, count});
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t p = 0; p < 1600; ++p) images.mutable_data<float>()[(i * 1600 + p) * count + i] = 1;
      }
      const std::vector<Tensor> out = layer.augment({images, labels}, {.seed = 4, .epoch = 0, .index = index});
      for (std::int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::int64_t c = 0; c < count; ++c) {
          double mean = 0;
          for (std::int64_t p = 0; p < 1600; ++p) mean += out[0].data<float>()[(i * 1600 + p) * count + c] / 1600.0;
          const double label = out[1].data<float>()[i * count + c];
          // A box counts whole pixels in the image and parts of pixels in the label.
          BOOST_TEST(std::abs(mean - label) < (exact ? 1e-5 : 0.06));
          mixed += c != i && label > 0.01 ? 1 : 0;
          sum += label;
        }
        BOOST_TEST(std::abs(sum - 1) < 1e-6);
      }
    }
    BOOST_TEST(mixed > 10);
  };
  check(MixUp(), true);
  check(CutMix(), false);
}

BOOST_AUTO_TEST_CASE(models_and_loaders_give_equal_batches) {
  const Tensor images = random_tensor({6, 5, 4, 3}).cast(DType::float32), labels = own_classes(6);
  const Dataset data = Dataset::from_tensors({{"image", images}, {"label", labels, Role::target}});
  const auto check = [&](auto layer) {
    Trace trace(Trace::Mode::eager, true);
    const Values out = layer({trace.input("x", images), trace.input("y", labels)});
    const std::vector<Tensor> again = layer.augment({images, labels}, {.seed = 5, .epoch = 0, .index = 0});
    BOOST_TEST(out[0].tensor().equal(again[0]));
    BOOST_TEST(out[1].tensor().equal(again[1]));
    for (const int workers : {0, 2}) {
      const DataLoader plain(data, {.batch_size = 3, .workers = workers});
      const DataLoader mixed = plain.map(layer.on_batches("image", "label"));
      detail::BatchStream stream = mixed.epoch(2);
      for (std::int64_t index = 0; index < 2; ++index) {
        const HostBatch batch = *stream.next();
        const std::vector<Tensor> wanted =
            layer.augment({images.slice(3 * index, 3 * index + 3), labels.slice(3 * index, 3 * index + 3)},
                          {.seed = 5, .epoch = 2, .index = index});
        BOOST_TEST(batch["image"].equal(wanted[0]));
        BOOST_TEST(batch["label"].equal(wanted[1]));
      }
    }
    const Values kept = layer(Values{images, labels}, {.training = false});
    BOOST_TEST(kept[0].tensor().equal(images));
    BOOST_TEST(kept[1].tensor().equal(labels));
    BOOST_TEST(layer(Values{images}, {.training = true}).size() == 1U);
    BOOST_TEST(
        (layer(Values{Tensor({0, 4, 4, 3}), Tensor({0, 2})}, {.training = true})[0].shape() == Shape{0, 4, 4, 3}));
  };
  check(MixUp({.seed = 5}));
  check(CutMix({.seed = 5}));
}

BOOST_AUTO_TEST_CASE(weights) {
  // The mean of a symmetric beta distribution is 1/2; its variance for alpha 0.2 is 1 / (4 (0.4 + 1)).
  const Tensor images({64, 1, 1, 1}), labels = own_classes(64);
  double sum = 0, squares = 0;
  for (std::int64_t index = 0; index < 20; ++index) {
    const std::vector<Tensor> out = MixUp(0.2).augment({images, labels}, {.seed = 1, .epoch = 0, .index = index});
    for (std::int64_t i = 0; i < 64; ++i) {
      const double weight = out[1].data<float>()[i * 65];
      sum += weight;
      squares += (weight - 0.5) * (weight - 0.5);
    }
  }
  // One in 64 images is its own partner; the deviation of the mean of 1280 weights is 0.012.
  BOOST_TEST(std::abs(sum / 1280 - 0.508) < 0.05);
  BOOST_TEST(std::abs(squares / 1280 - 0.1786) < 0.03);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Tensor images({4, 2, 2, 3});
  const auto text = [](const std::vector<Tensor>& given) {
    return refused<Error>([&] { MixUp().augment(given, {}); });
  };
  BOOST_TEST(text({images, Tensor({4})}) ==
             "[MixUp] labels must have shape (batch, classes), as to_categorical() gives; got shape (4,)");
  BOOST_TEST(text({images, Tensor({3, 2})}) == "[MixUp] labels must be those of 4 images; got shape (3, 2)");
  BOOST_TEST(text({Tensor({2, 2, 3})}) ==
             "[MixUp] images must have shape (batch, height, width, channels); got shape (2, 2, 3)");
  BOOST_TEST(text({}) == "[MixUp] inputs must be images, or images and labels; got 0 inputs");
  BOOST_TEST(refused<ValueError>([] { MixUp(0); }) == "[MixUp] alpha must be above 0; got 0");
  BOOST_TEST(refused<ValueError>([] { MixUp(NAN); }) == "[MixUp] alpha must be above 0; got nan");
  BOOST_TEST(refused<ValueError>([] { CutMix(2); }) == "[CutMix] factor must be one or two numbers in [0, 1]; got (2)");
  const Dataset data = Dataset::from_tensors({{"x", images}});
  const DataLoader loader(data, {.batch_size = 2, .workers = 0});
  BOOST_TEST(refused<NameError>([&] {
               loader.map(MixUp().on_batches("image")).epoch(0).next();
             }).find("[DataLoader] batch 0: ") == 0);
  const auto shorter = loader.map([](HostBatch batch, std::int64_t, std::int64_t) {
    batch.size = 1;
    return batch;
  });
  BOOST_TEST(refused<ValueError>([&] { shorter.epoch(0).next(); }) ==
             "[DataLoader.map] the function must return 2 samples of the fields x");
  BOOST_TEST(refused<ValueError>([&] { loader.map(nullptr); }) == "[DataLoader.map] function must be given; got none");
  BOOST_TEST(refused<ValueError>([] { DataLoader().map(MixUp().on_batches("x")); }) ==
             "[DataLoader.map] the loader must have a data set; got an absent loader");
}

BOOST_AUTO_TEST_SUITE_END()
