#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential model_of() {
  return Sequential({Dense({.units = 4, .name = "first"}), BatchNormalization({.name = "norm"}),
                     Dense({.units = 2, .name = "own", .dtype = "float64"})});
}

std::string dtypes(const Layer& layer) {
  std::string text;
  for (const auto& [path, weight] : layer.named_weights()) text += path + " " + dtype_name(weight.dtype()) + "\n";
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conversion)

BOOST_AUTO_TEST_CASE(weights_and_layers_follow_unless_they_have_their_own) {
  Sequential model = model_of();
  model.build({2, 3});
  const Tensor before = model.get_layer("first").weights()[0].value();
  model.to("bfloat16");
  BOOST_TEST(dtypes(model) ==
             "first/kernel bfloat16\nfirst/bias bfloat16\nnorm/gamma float32\nnorm/beta float32\n"
             "norm/moving_mean float32\nnorm/moving_variance float32\nown/kernel float64\nown/bias float64\n");
  BOOST_TEST(model.get_layer("first").weights()[0].value().equal(before.cast(DType::bfloat16)));
  BOOST_TEST(model.dtype_policy().name() == "bfloat16");
  BOOST_TEST(model.get_layer("first").dtype_policy().name() == "bfloat16");
  BOOST_TEST(model.get_layer("own").dtype_policy().name() == "float64");
  Dense alone({.units = 2});
  alone.build({2, 3});
  alone.to("bfloat16");
  BOOST_TEST(dtype_name(alone(random_tensor({2, 3})).dtype()) == "bfloat16");
}

BOOST_AUTO_TEST_CASE(layers_that_are_built_later_follow_too) {
  Sequential model = model_of();
  model.to("float64");
  model.build({2, 3});
  BOOST_TEST(dtype_name(model.get_layer("first").weights()[0].dtype()) == "float64");
}

BOOST_AUTO_TEST_CASE(a_layer_inside_is_converted_alone) {
  Sequential model = model_of();
  model.build({2, 3});
  model.get_layer("first").to("float16");
  BOOST_TEST(dtype_name(model.get_layer("first").weights()[0].dtype()) == "float16");
  BOOST_TEST(dtype_name(model.get_layer("norm").weights()[0].dtype()) == "float32");
}

BOOST_AUTO_TEST_CASE(the_empty_policy_inherits_again) {
  Sequential model = model_of();
  model.build({2, 3});
  model.to("bfloat16");
  model.to("");
  BOOST_TEST(model.get_layer("first").dtype_policy().name() == "float32");
  BOOST_TEST(dtype_name(model.get_layer("first").weights()[0].dtype()) == "float32");
}

BOOST_AUTO_TEST_CASE(an_optimizer_made_before_goes_on) {
  Sequential model({Dense({.units = 3})});
  const Adam adam({.learning_rate = 0.01});
  model.compile({.optimizer = adam, .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Tensor x = random_tensor({6, 4}), y({6}, std::vector<std::int64_t>{0, 1, 2, 0, 1, 2});
  const auto losses = [&] {
    return model.fit(x, y, {.batch_size = 6, .epochs = 3, .verbose = false}).history.at("loss");
  };
  const auto slot = [&] { return adam.state()->slots.at(0).values.at(0)->value; };
  const std::vector<double> first = losses();
  const Tensor momentum = slot();
  model.to("bfloat16");
  const std::vector<double> second = losses();
  BOOST_TEST(adam.iterations() == 6);
  BOOST_TEST(adam.state()->slots.size() == 2U);
  BOOST_TEST(dtype_name(slot().dtype()) == "float32");
  BOOST_TEST(second.front() < first.back() + 0.01);  // bfloat16's rounding of the weights, 2^-9 of each
  BOOST_TEST(second.back() < second.front());
  model.to("float64");
  losses();
  BOOST_TEST(adam.iterations() == 9);
  BOOST_TEST(dtype_name(slot().dtype()) == "float64");
  BOOST_TEST(!slot().cast(DType::float32).equal(momentum));
}

BOOST_AUTO_TEST_CASE(a_number_that_the_dtype_cannot_hold_is_refused) {
  Sequential model = model_of();
  model.build({2, 3});
  const Variable weight = model.get_layer("first").weights()[1];
  weight.assign(Tensor({4}, std::vector<float>{0, 65519, 1e5F, -INFINITY}));
  const std::string before = dtypes(model);
  BOOST_TEST(refused<ValueError>([&] { model.to("float16"); }) ==
             "[Sequential] to: values of \"first/bias\" must be finite in float16; got 100000");
  BOOST_TEST(dtypes(model) == before);
  BOOST_TEST(model.dtype_policy().name() == "float32");
  weight.assign(Tensor({4}, std::vector<float>{0, 65519, 6e4F, -INFINITY}));  // 65519 rounds to 65504
  model.to("float16");
  BOOST_TEST(dtype_name(weight.dtype()) == "float16");
}

BOOST_AUTO_TEST_SUITE_END()
