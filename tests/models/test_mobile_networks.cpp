// MobileNetV2 and EfficientNet against torchvision, as recorded by tests/parity/mobile_networks.py.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

MobileNetV2 narrow_mobilenet() { return MobileNetV2({.classes = 10, .width_mult = 0.35, .dropout = 0}); }

EfficientNet plain_efficientnet() { return efficientnet_b0({.classes = 10, .dropout = 0, .stochastic_depth_prob = 0}); }

std::int64_t trained_numbers(Model& model) {
  model(Input({.shape = {64, 64, 3}}));
  std::int64_t count = 0;
  for (const Variable& weight : model.trainable_weights()) count += element_count(weight.shape());
  return count;
}

template <class Make>
void check_names(const char* name, const Make& make) {
  const nlohmann::json& expected = recorded("mobile_networks").at(name).at("weights");
  auto model = make();
  model.build({1, 64, 64, 3});
  const auto weights = detail::file_weights(*model.state()).weights;
  BOOST_TEST_REQUIRE(weights.size() == expected.size());
  for (std::size_t i = 0; i < weights.size(); ++i) BOOST_TEST(weights[i].name() == expected[i][0]);
}

template <class Make>
void check_step(const char* name, const Make& make) {
  const nlohmann::json& expected = recorded("mobile_networks").at(name);
  BOOST_TEST_CONTEXT(name << " in float64") {
    const detail::PolicyScope policy{Policy("float64")};
    auto model = make();
    check_training_step(expected, model, DType::float64, {.output = 1e-9, .gradient = 1e-9, .moved = 1e-9});
  }
  BOOST_TEST_CONTEXT(name << " in float32") {
    auto model = make();
    check_training_step(expected, model, DType::float32, {.output = 1e-4, .gradient = 1e-3, .moved = 1e-5});
  }
}

template <class M>
void check_use(M model) {
  const Tensor x = random_tensor({2, 64, 64, 3});
  model.compile({.optimizer = SGD({.learning_rate = 1e-3}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  model.fit(x, Tensor({2}, std::vector<std::int64_t>{2, 0}), {.verbose = false});
  const Tensor expected = model.predict(x);
  M copy = clone(model);
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(copy.predict(x).equal(expected));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mobile_networks)

BOOST_AUTO_TEST_CASE(weights_are_as_many_as_torchvisions) {
  MobileNetV2 mobilenet;
  BOOST_TEST(trained_numbers(mobilenet) == 3'504'872);
  const std::pair<EfficientNet (*)(EfficientNetOptions), std::int64_t> networks[] = {{efficientnet_b0, 5'288'548},
                                                                                     {efficientnet_b1, 7'794'184},
                                                                                     {efficientnet_b2, 9'109'994},
                                                                                     {efficientnet_b3, 12'233'232},
                                                                                     {efficientnet_b4, 19'341'616}};
  for (const auto& network : networks) {
    EfficientNet model = network.first({});
    BOOST_TEST(trained_numbers(model) == network.second);
  }
}

BOOST_AUTO_TEST_CASE(weights_are_named_as_torchvisions) {
  check_names("mobilenet_v2", narrow_mobilenet);
  check_names("efficientnet_b0", plain_efficientnet);
}

BOOST_AUTO_TEST_CASE(a_step_equals_torchs) {
  check_step("mobilenet_v2", narrow_mobilenet);
  check_step("efficientnet_b0", plain_efficientnet);
}

BOOST_AUTO_TEST_CASE(they_are_trained_and_cloned) {
  check_use(narrow_mobilenet());
  check_use(efficientnet_b0({.classes = 3}));
}

// With rate r, about r of the samples of a batch skip a block; the others have it divided by 1 - r.
BOOST_AUTO_TEST_CASE(stochastic_depth_acts_on_whole_samples_in_training_only) {
  seed_everything(0);
  EfficientNet model = efficientnet_b0({.classes = 3, .dropout = 0, .stochastic_depth_prob = 0.9});
  const Tensor image = random_tensor({1, 32, 32, 3});
  const Tensor images = concatenate({image, image, image}, 0).tensor();
  const auto rows_differ = [&](bool training) {
    const Tensor out = model(images, {.training = training}).tensor();
    const auto numbers = out.to_doubles();
    return numbers[0] != numbers[3] || numbers[0] != numbers[6];
  };
  BOOST_TEST(!rows_differ(false));
  BOOST_TEST(rows_differ(true));
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused<ValueError>([] { MobileNetV2({.classes = 0}); }) ==
             "[MobileNetV2] classes must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { MobileNetV2({.width_mult = 0, .name = "net"}); }) ==
             "[MobileNetV2 \"net\"] width_mult must be above 0; got 0");
  BOOST_TEST(refused<ValueError>([] { EfficientNet({.depth_mult = -1}); }) ==
             "[EfficientNet] depth_mult must be above 0; got -1");
  BOOST_TEST(refused<ValueError>([] { EfficientNet({.stochastic_depth_prob = 1}); }) ==
             "[EfficientNet] stochastic_depth_prob must be in [0, 1); got 1");
  BOOST_TEST(refused<ValueError>([] { efficientnet_b1({.width_mult = 2}); }) ==
             "[efficientnet_b1] width_mult and depth_mult must not be given, use EfficientNet for others than 1 and "
             "1.1; got 2 and 1");
}

BOOST_AUTO_TEST_SUITE_END()
