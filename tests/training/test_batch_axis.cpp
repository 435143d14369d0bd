// One sample without a batch axis: it is named before it is cut into batches.
#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <vector>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t side = 40;  // more rows than a batch has

CompileOptions regression() { return {.optimizer = "sgd", .loss = "mse"}; }

Sequential sequential() {
  Sequential model({Input({side, side, 1}), Flatten(), Dense(1)}, {.name = "pictures"});
  model.compile(regression());
  return model;
}

Model functional() {
  const Input x({side, side, 1});
  Model model({x}, {Dense(1)(Flatten()(x))}, {.name = "pictures"});
  model.compile(regression());
  return model;
}

/// A class without Inputs.
class Network : public Model {
 public:
  Network() : Model("Network") {}

 protected:
  Value call(const Value& x) override { return out_(pool_(conv_(x))); }

 private:
  Conv2D conv_ = sub("conv", Conv2D({.filters = 2, .kernel_size = 3}));
  GlobalAveragePooling2D pool_ = sub("pool", GlobalAveragePooling2D());
  Dense out_ = sub("out", Dense(1));
};

Tensor picture() { return random_tensor({side, side, 1}, DType::float32, 1); }

/// Texts of the errors of all verbs that take arrays.
std::vector<std::string> refusals(Model& model) {
  const Tensor x = picture(), y({side, 1});
  const std::vector<std::function<void()>> calls{
      [&] { model.predict(x); },           [&] { model.predict_all(x); },
      [&] { model.predict_on_batch(x); },  [&] { model.evaluate(x, y, {.verbose = 0}); },
      [&] { model.train_on_batch(x, y); }, [&] { model.fit(x, y, {.verbose = 0}); },
      [&] { model.test_on_batch(x, y); },  [&] { model(Values{x}); },
  };
  std::vector<std::string> out;
  out.reserve(calls.size());
  for (const auto& call : calls) out.push_back(refused<ShapeError>(call));
  return out;
}

const std::string text =
    " \"pictures\"] input 0 must have shape (?, 40, 40, 1); got shape (40, 40, 1): add a batch axis: "
    "x.reshape({1, 40, 40, 1})";

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_axis)

BOOST_AUTO_TEST_CASE(models_with_inputs_name_the_whole_sample) {
  Model graph = functional();
  for (const std::string& refusal : refusals(graph)) BOOST_TEST(refusal == "[Functional" + text);
  Sequential list = sequential();
  for (const std::string& refusal : refusals(list)) BOOST_TEST(refusal == "[Sequential" + text);
}

BOOST_AUTO_TEST_CASE(predictors_name_it_too) {
  Sequential list = sequential();
  const Predictor predictor = list.predictor({.batch_sizes = {1}});
  BOOST_TEST(refused<ShapeError>([&] { predictor(picture()); }) == "[Sequential" + text);
  BOOST_TEST((predictor(picture().reshape({1, side, side, 1})).shape() == Shape{1, 1}));
}

BOOST_AUTO_TEST_CASE(batches_of_loaders_are_checked_in_the_step) {
  Sequential list = sequential();
  const DataLoader rows(Dataset::from_tensors({{"x", picture()}}), {.batch_size = 8});
  BOOST_TEST(refused<ShapeError>([&] { list.predict(rows); }) ==
             "[Sequential \"pictures\"] input 0 must have shape (?, 40, 40, 1); got shape (8, 40, 1): one sample needs "
             "a batch axis, too");
}

BOOST_AUTO_TEST_CASE(other_sizes_are_no_rows_either) {
  Sequential list = sequential();
  BOOST_TEST(refused<ShapeError>([&] {
               list.predict(Tensor({64, 64, 3}));
             }) ==
             "[Sequential \"pictures\"] input 0 must have shape (?, 40, 40, 1); got shape (64, 64, 3): one sample "
             "needs a batch axis, too");
}

BOOST_AUTO_TEST_CASE(classes_of_models_know_it_after_their_first_call) {
  Network model;
  model.compile(regression());
  BOOST_TEST(refused<ShapeError>([&] { model.predict(picture()); }) ==
             "[Conv2D \"conv\"] input must have rank 4 (batch, height, width, channels); got shape (32, 40, 1)"
             ": add a batch axis if this is one sample");
  model.build({1, side, side, 1});  // the call that failed has left nothing
  BOOST_TEST(refused<ShapeError>([&] { model.predict(picture()); }) ==
             "[Network] input 0 must have shape (?, 40, 40, 1); got shape (40, 40, 1): add a batch axis: "
             "x.reshape({1, 40, 40, 1})");
}

BOOST_AUTO_TEST_CASE(axes_that_keras_adds_stay_allowed) {
  Model graph = functional();
  const Tensor x = random_tensor({3, side, side, 1}, DType::float32, 2);
  BOOST_TEST(graph.predict(x.reshape({3, side, side})).equal(graph.predict(x)));  // without the channels
  Sequential words({Input({1}), Embedding({.input_dim = 4, .output_dim = 2})});
  BOOST_TEST((words.predict(Tensor({5}, DType::int64)).shape() == Shape{5, 2}));
  Sequential dense({Dense(2)});  // takes any rank
  dense.build({1, 4, 3});
  BOOST_TEST((dense.predict(Tensor({4, 3})).shape() == Shape{4, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
