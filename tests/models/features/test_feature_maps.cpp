// Networks for images without their classifier: include_top, pooling, features_only.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

ResNet small_resnet(ResNetOptions options = {}) {
  options.classes = 3;
  options.stem = 4;
  options.filters = {4, 6, 8, 10};
  return ResNet(ResNet::Block::basic, {1, 2, 1, 1}, options);
}

MobileNetV2 small_mobile(MobileNetV2Options options = {}) {
  options.classes = 3;
  options.width_mult = 0.1;
  return MobileNetV2(options);
}

EfficientNet small_efficient(EfficientNetOptions options = {}) {
  options.classes = 3;
  options.width_mult = 0.1;
  options.depth_mult = 0.1;
  return EfficientNet(options);
}

const Tensor& images() {
  static const Tensor some = random::normal({2, 64, 64, 3});
  return some;
}

// The same weights in a network without a classifier, from a file of the whole one.
template <class Network>
Tensor last_map(Network& whole, Network bare, const Folder& folder) {
  whole(images());
  whole.save_weights(folder.path("whole.safetensors"));
  bare(images());
  bare.load_weights(folder.path("whole.safetensors"));
  return bare.predict(images());
}

template <class Network>
void check_maps(Network& whole, Network only, const Folder& folder, const std::vector<std::int64_t>& channels) {
  whole(images());
  whole.save_weights(folder.path("whole.safetensors"));
  only(Values{images()});
  only.load_weights(folder.path("whole.safetensors"));
  const Tensors maps = only.predict_all(images());
  BOOST_TEST_REQUIRE(maps.size() == 5U);
  std::int64_t size = 32;
  for (std::size_t i = 0; i < 5; ++i, size /= 2) {
    BOOST_TEST((maps[i].shape() == Shape{2, size, size, channels[i]}), i);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(feature_maps)

BOOST_AUTO_TEST_CASE(a_network_without_its_classifier_returns_the_map_before_it) {
  const Folder folder;
  ResNet whole = small_resnet();
  const Tensor map = last_map(whole, small_resnet({.include_top = false}), folder);
  BOOST_TEST((map.shape() == Shape{2, 2, 2, 10}));
  const Tensor means = last_map(whole, small_resnet({.include_top = false, .pooling = "avg"}), folder);
  BOOST_TEST(means.equal(mean(map, {.axes = {1, 2}}).tensor()));
  const Tensor largest = last_map(whole, small_resnet({.include_top = false, .pooling = "max"}), folder);
  BOOST_TEST(largest.equal(max(map, {.axes = {1, 2}}).tensor()));
  const std::vector<Variable> weights = whole.weights();
  const Value logits = matmul(means, weights.at(weights.size() - 2).value()) + weights.back().value();
  const std::vector<double> expected = whole.predict(images()).to_doubles(), given = logits.tensor().to_doubles();
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_CHECK_CLOSE_FRACTION(given[i], expected[i], 1e-4);

  MobileNetV2 mobile = small_mobile();
  BOOST_TEST((last_map(mobile, small_mobile({.include_top = false}), folder).shape() == Shape{2, 2, 2, 1280}));
  EfficientNet efficient = small_efficient();
  BOOST_TEST(
      (last_map(efficient, small_efficient({.include_top = false, .pooling = "avg"}), folder).shape().size() == 2U));
}

BOOST_AUTO_TEST_CASE(features_are_the_maps_of_all_stages) {
  const Folder folder;
  ResNet whole = small_resnet();
  check_maps(whole, small_resnet({.features_only = true}), folder, {4, 4, 6, 8, 10});
  ResNet only = small_resnet({.features_only = true});
  only(Values{images()});
  only.load_weights(folder.path("whole.safetensors"));
  const Tensors maps = only.predict_all(images());
  BOOST_TEST(maps["layer4"].equal(last_map(whole, small_resnet({.include_top = false}), folder)));
  BOOST_TEST(only.output_names() == (std::vector<std::string>{"relu", "layer1", "layer2", "layer3", "layer4"}),
             boost::test_tools::per_element());
  MobileNetV2 mobile = small_mobile();
  check_maps(mobile, small_mobile({.features_only = true}), folder, {8, 8, 8, 16, 32});
  EfficientNet efficient = small_efficient();
  check_maps(efficient, small_efficient({.features_only = true}), folder, {8, 8, 8, 16, 32});
}

BOOST_AUTO_TEST_CASE(a_module_trains_on_the_maps) {
  class Depths : public Module {
   public:
    Value call(const Value& x) override {
      const Values maps = backbone_(Values{x});
      return concatenate({mean(maps[2], {.axes = {1, 2}}), mean(maps[4], {.axes = {1, 2}})}, 1);
    }
    Value training_step(const Batch& batch) override { return mean(square(head_((*this)(batch["x"])) - batch["y"])); }
    OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD(0.01)}}; }

   private:
    ResNet backbone_ = sub("backbone", small_resnet({.features_only = true}));
    Dense head_ = sub("head", Dense(1));
  };
  Depths module;
  const DataLoader data(
      Dataset::from_tensors({{"x", images()}, {"y", array({{1}, {2}}).cast(DType::float32), Role::target}}),
      {.batch_size = 2});
  const History history = Trainer({.max_epochs = 6, .enable_progress_bar = false}).fit(module, data);
  BOOST_TEST(history["loss"].back() < history["loss"].front());
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused) {
  check_throws<ValueError>("[ResNet] pooling needs include_top = false; got \"avg\" with the classifier",
                           [] { small_resnet({.pooling = "avg"}); });
  check_throws<NameError>("[MobileNetV2] unknown pooling \"mean\"; valid names: avg, max",
                          [] { small_mobile({.include_top = false, .pooling = "mean"}); });
  check_throws<ValueError>("[EfficientNet] features_only excludes pooling; got \"max\"",
                           [] { small_efficient({.include_top = false, .pooling = "max", .features_only = true}); });
}

BOOST_AUTO_TEST_SUITE_END()
