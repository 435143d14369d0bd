// U-Net against torch, as recorded by tests/parity/unet.py.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "support/kernels.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

UNet small_unet(bool bilinear) { return UNet({.n_classes = 3, .bilinear = bilinear, .width = 4}); }

const std::pair<const char*, bool> recorded_unets[] = {{"transposed", false}, {"bilinear", true}, {"even", true}};

}  // namespace

BOOST_AUTO_TEST_SUITE(unet)

BOOST_AUTO_TEST_CASE(weights_are_as_many_and_named_as_in_torch) {
  const std::pair<bool, std::int64_t> sizes[] = {{false, 31'037'698}, {true, 17'263'042}};
  for (const auto& [bilinear, count] : sizes) {
    UNet model({.n_classes = 2, .bilinear = bilinear});
    model(Input({.shape = {32, 32, 3}}));
    std::int64_t numbers = 0;
    for (const Variable& weight : model.trainable_weights()) numbers += element_count(weight.shape());
    BOOST_TEST(numbers == count);
  }
  for (const auto& [name, bilinear] : recorded_unets) {
    const nlohmann::json& expected = recorded("unet").at(name).at("weights");
    UNet model = small_unet(bilinear);
    model.build({1, 32, 32, 3});
    const auto weights = detail::file_weights(*model.state()).weights;
    BOOST_TEST_REQUIRE(weights.size() == expected.size());
    for (std::size_t i = 0; i < weights.size(); ++i) BOOST_TEST(weights[i].name() == expected[i][0]);
  }
}

// Images of 21 pixels: two maps are padded. Images of 32: none.
BOOST_AUTO_TEST_CASE(a_step_equals_torchs) {
  for (const auto& [name, bilinear] : recorded_unets) {
    const nlohmann::json& expected = recorded("unet").at(name);
    BOOST_TEST_CONTEXT(name << " in float64") {
      const detail::PolicyScope policy{Policy("float64")};
      UNet model = small_unet(bilinear);
      check_training_step(expected, model, DType::float64, {.output = 1e-9, .gradient = 1e-9, .moved = 1e-9});
    }
    BOOST_TEST_CONTEXT(name << " in float32") {
      UNet model = small_unet(bilinear);
      // In float32 an input of a ReLU near 0 may have the other sign (formula.py): 1.6e-3 was measured.
      check_training_step(expected, model, DType::float32, {.output = 1e-4, .gradient = 4e-3, .moved = 1e-5});
    }
  }
}

BOOST_AUTO_TEST_CASE(it_is_trained_and_cloned_under_every_policy) {
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    for (const bool bilinear : {false, true}) {
      BOOST_TEST_CONTEXT(policy) {
        const detail::PolicyScope scope{Policy(policy)};
        UNet model = small_unet(bilinear);
        const Tensor x = random_tensor({2, 20, 17, 3});
        std::vector<std::int64_t> classes;
        for (std::int64_t i = 0; i < 680; ++i) classes.push_back(i % 17 < 8 ? 0 : 2);
        const Tensor y({2, 20, 17}, classes);
        model.compile({.optimizer = Adam(1e-2), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
        const History history = model.fit(x, y, {.batch_size = 2, .epochs = 20, .verbose = false});
        BOOST_TEST(history["loss"].back() < 0.75 * history["loss"].front());
        const Tensor expected = model.predict(x);
        UNet copy = clone(model);
        for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
        BOOST_TEST(copy.predict(x).equal(expected));
      }
    }
  }
}

// A functional model of images of any size.
BOOST_AUTO_TEST_CASE(open_sizes_of_images) {
  for (const bool bilinear : {false, true}) {
    UNet net = small_unet(bilinear);
    const Input x({-1, -1, 3});
    const Value y = net(x);
    BOOST_TEST(y.shape() == (Shape{-1, -1, -1, 3}), to_string(y.shape()));
    Model model(x, y);
    for (const Shape& shape : {Shape{1, 16, 21, 3}, Shape{2, 35, 16, 3}}) {
      const Tensor images = random_tensor(shape);
      BOOST_TEST(model(Value(images)).tensor().equal(net(Value(images)).tensor()));
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused<ValueError>([] { UNet(UNetOptions{}); }) == "[UNet] n_classes must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { UNet({.n_channels = 0, .n_classes = 2, .name = "net"}); }) ==
             "[UNet \"net\"] n_channels must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { UNet({.n_classes = 2, .bilinear = true, .width = 5}); }) ==
             "[UNet] width must be even if bilinear; got 5");
  UNet model = small_unet(false);
  BOOST_TEST(refused<ShapeError>([&] {
               model.predict(random_tensor({1, 32, 32, 4}));
             }).find("input axis -1 must be 3 (n_channels); got shape (1, 32, 32, 4)") != std::string::npos);
  BOOST_TEST(refused<ShapeError>([&] {
               model.predict(random_tensor({1, 15, 32, 3}));
             }).find("input axis 1 must be at least 16; got shape (1, 15, 32, 3)") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
