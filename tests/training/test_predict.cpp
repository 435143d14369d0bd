#include <boost/test/unit_test.hpp>

#include <xtensor/xarray.hpp>
#include <xtensor/xbuilder.hpp>

#include <mezzo/xtensor.hpp>

#include "small.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

/// Returns an output with the batch on its second axis.
class Sideways : public Module {
 public:
  Sideways() : Module("Sideways") {}
  Value predict_step(const Batch& batch) override { return transpose(batch["x"]); }
};

/// Logs a number in its predict step.
class Talkative : public Module {
 public:
  Talkative() : Module("Talkative") {}
  Value predict_step(const Batch& batch) override {
    log("size", mean(batch["x"]));
    return batch["x"] * 2;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(predict)

BOOST_AUTO_TEST_CASE(a_missing_or_needless_last_axis_of_size_1) {
  const Input a({1}), b({2});
  Model model({a, b}, layers::concatenate({a, b}));
  const Tensor x = column({1, 2}), y({2, 2}, std::vector<float>{3, 4, 5, 6});
  const Tensor expected = model.predict({x, y});
  BOOST_TEST((expected.shape() == Shape{2, 3}));
  BOOST_TEST(model.predict({x.reshape({2}), y}).equal(expected));
  BOOST_TEST(model.predict({x, y.reshape({2, 2, 1})}).equal(expected));
  BOOST_TEST(model(Values{x.reshape({2}), y})[0].tensor().equal(expected));
  BOOST_TEST(refused<ShapeError>([&] {
               model.predict({x, x.reshape({2})});
             }).find("input 1 must have shape (?, 2); got shape (2,)") != std::string::npos);
  BOOST_TEST(refused<ShapeError>([&] {
               model.predict({y, y});
             }).find("input 0 must have shape (?, 1)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(outputs_of_all_batches_in_order) {
  Sequential model = line(2);
  const Tensor x = column({1, 2, 3, 4, 5});
  const std::vector<double> expected{2, 4, 6, 8, 10};
  for (const std::int64_t batch_size : {1, 2, 5, 32}) {
    const Tensor y = model.predict(x, {.batch_size = batch_size});
    BOOST_TEST(to_string(y.shape()) == "(5, 1)");
    BOOST_TEST(y.to_doubles() == expected, per_element());
  }
  const DataLoader loader(pairs({1, 2, 3, 4, 5}, {0, 0, 0, 0, 0}), {.batch_size = 2});
  BOOST_TEST(model.predict(loader).to_doubles() == expected, per_element());
  BOOST_TEST(Trainer().predict(model, loader).to_doubles() == expected, per_element());
  BOOST_TEST(Trainer({.eager = true}).predict(model, loader).to_doubles() == expected, per_element());
}

BOOST_AUTO_TEST_CASE(arrays_of_xtensor_go_in_and_out) {
  Sequential model = line(2);
  const xt::xarray<float> x = xt::ones<float>({2, 1}) * 2;
  const xt::xarray<float> y = model.predict(x);
  BOOST_TEST(y.dimension() == 2U);
  BOOST_TEST(y(1, 0) == 4.0F);
}

BOOST_AUTO_TEST_CASE(numbers_come_as_float32_or_float64) {
  const Tensor x = column({1, 2});
  for (const char* name : {"float32", "mixed_bfloat16", "float16"}) {
    Sequential model({Dense({.units = 1})}, {.dtype = name});
    BOOST_TEST((model.predict(x).dtype() == DType::float32));
  }
  Sequential model({Dense({.units = 1})}, {.dtype = "float64"});
  BOOST_TEST((model.predict(x).dtype() == DType::float64));
}

BOOST_AUTO_TEST_CASE(it_needs_neither_compile_nor_targets) {
  Sequential model({Dense({.units = 2}), Dropout({.rate = 0.5})});
  const Tensor y = model.predict(Tensor({3, 4}));
  BOOST_TEST(to_string(y.shape()) == "(3, 2)");
}

BOOST_AUTO_TEST_CASE(a_module_says_what_its_prediction_is) {
  Talkative talkative;
  const DataLoader loader(pairs({1, 2, 3}, {0, 0, 0}), {.batch_size = 2});
  const std::vector<double> expected{2, 4, 6};
  for (const bool eager : {false, true}) {
    BOOST_TEST(Trainer({.eager = eager}).predict(talkative, loader).to_doubles() == expected, per_element());
  }
  Sideways sideways;
  BOOST_TEST(refused<ShapeError>([&] { Trainer().predict(sideways, loader); }) ==
             "[Trainer] predict: outputs may differ on axis 0 only; got shapes (1, 2) and (1, 1)");
}

BOOST_AUTO_TEST_CASE(what_eval_sees_of_weights_assigned_between_calls) {
  Sequential model = line(2);
  BOOST_TEST(model.predict(column({3})).item() == 6);
  model.weights()[0].assign(column({5}));
  BOOST_TEST(model.predict(column({3})).item() == 15);
  Sequential low({Dense({.units = 1, .use_bias = false})}, {.dtype = "mixed_bfloat16"});
  low.predict(column({3}));
  low.weights()[0].assign(column({5}));
  BOOST_TEST(low.predict(column({3})).item() == 15);
}

BOOST_AUTO_TEST_SUITE_END()
