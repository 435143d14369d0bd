#include <boost/test/unit_test.hpp>

#include <xtensor/xarray.hpp>

#include <mezzo/core/parallel.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/xtensor.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential classifier() {
  Sequential model({Input({6, 6, 2}), Conv2D({.filters = 4, .kernel_size = 3, .use_bias = false}), BatchNormalization(),
                    Activation("relu"), Dropout({.rate = 0.5}), Flatten(),
                    Dense({.units = 3, .activation = "softmax"})});
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy"});
  return model;
}

Tensor pictures(std::int64_t rows, std::uint64_t seed = 1) {
  return random_tensor({rows, 6, 6, 2}, DType::float32, seed);
}

void train(Sequential& model) {
  model.fit(pictures(8), Tensor({8}, DType::int64), {.batch_size = 4, .epochs = 3, .verbose = 0});
}

/// A class that register_class() doesn't know.
class Net : public Model {
 public:
  Net() : Model("Net") {}

 protected:
  Value call(const Value& x) override { return out_(hidden_(x)); }

 private:
  Dense hidden_ = sub("hidden", Dense({.units = 5, .activation = "tanh"}));
  Dense out_ = sub("out", Dense({.units = 2}));
};

Net net() {
  Net model;
  model.build({1, 4});
  return model;
}

Tensor rows_of_4(std::int64_t rows) { return random_tensor({rows, 4}, DType::float32, 2); }

}  // namespace

BOOST_AUTO_TEST_SUITE(predictor)

BOOST_AUTO_TEST_CASE(outputs_are_those_of_predict_for_any_number_of_rows) {
  Sequential model = classifier();
  train(model);
  const Predictor predictor = model.predictor({.batch_sizes = {1, 8}, .workers = 2});
  for (const std::int64_t rows : {1, 8, 3, 5, 1}) {
    const Tensor x = pictures(rows), y = predictor(x);
    BOOST_TEST((y.shape() == Shape{rows, 3}));
    BOOST_TEST(largest_difference(y, model.predict(x, {.batch_size = rows})) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(later_training_does_not_change_it) {
  Sequential model = classifier();
  train(model);
  const Tensor x = pictures(3), other = pictures(2);
  const Tensor expected = model.predict(x), expected_other = model.predict(other);
  const Predictor predictor = model.predictor({.batch_sizes = {3}});
  const Predictor copy = predictor;
  train(model);
  BOOST_TEST(largest_difference(model.predict(x), expected) > 1e-3);
  BOOST_TEST(largest_difference(predictor(x), expected) < 1e-6);
  BOOST_TEST(largest_difference(copy(other), expected_other) < 1e-6);  // traced after the training
}

BOOST_AUTO_TEST_CASE(a_class_that_is_not_registered_is_copied_by_the_constructor) {
  Net model = net();
  const Tensor x = rows_of_4(3), expected = model.predict(x);
  const Predictor predictor(model);
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(largest_difference(predictor(x), expected) < 1e-6);
}

BOOST_AUTO_TEST_CASE(ops_of_another_class_are_inserted_again) {
  Net model = net();
  const Tensor x = rows_of_4(3), expected = model.predict(x);
  const Predictor predictor = model.predictor(), low = model.predictor({.precision = "bf16-mixed"});
  const Tensor lower = Predictor(model, {.precision = "bf16-mixed"})(x);
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(largest_difference(predictor(x), expected) < 1e-6);
  BOOST_TEST(largest_difference(low(x), lower) == 0);
  MLP library({.hidden_units = {8}, .dropout = 0.5, .classes = 3});
  library.build({1, 2, 2});
  const Tensor image = random_tensor({5, 2, 2}, DType::float32, 4);
  BOOST_TEST(largest_difference(library.predictor()(image), library.predict(image)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(a_class_that_needs_its_rows_serves_the_inputs_that_were_compiled_ahead) {
  class Counted : public Net {
   protected:
    Value call(const Value& x) override { return Net::call(x) * static_cast<std::int64_t>(x.shape()[0]); }
  };
  Counted model;
  model.predict(rows_of_4(1));
  const Tensor x = rows_of_4(2), expected = model.predict(x);
  const Predictor predictor = model.predictor({.batch_sizes = {1, 2}});
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(largest_difference(predictor(x), expected) < 1e-6);
  BOOST_TEST(refused<ValueError>([&] { predictor(rows_of_4(3)); }) ==
             "[Predictor] an object of the class Net can't be copied by model.predictor(), so inputs must be compiled "
             "ahead: float32 (1, 4); float32 (2, 4); got float32 (3, 4): make a Predictor(model), which copies it, or "
             "give batch_sizes or examples");
  BOOST_TEST(refused<ValueError>([&] { model.predictor(); }) ==
             "[Predictor] an object of the class Net can't be copied by model.predictor(): make a Predictor(model), "
             "which copies it, or give batch_sizes or examples");
  BOOST_TEST(Predictor(model)(rows_of_4(3)).equal(Tensor({3, 2})));
}

BOOST_AUTO_TEST_CASE(outputs_go_into_memory_of_the_caller) {
  Net model = net();
  const Predictor predictor(model);
  const Tensor x = rows_of_4(3), expected = predictor(x);
  Tensor y({3, 2});
  const void* const memory = y.raw();
  predictor(x, y);
  BOOST_TEST(y.raw() == memory);
  BOOST_TEST(y.equal(expected));
  const Tensor shared = y;
  predictor(rows_of_4(3), y);
  BOOST_TEST(shared.raw() == memory);
  BOOST_TEST(y.raw() != memory);
  Tensor fresh;
  predictor(x, fresh);
  BOOST_TEST(fresh.equal(expected));
  std::vector<float> numbers(6);
  predictor(x, numbers.data(), numbers.size() * sizeof(float));
  BOOST_TEST(Tensor({3, 2}, numbers).equal(expected));
  BOOST_TEST(refused<ValueError>([&] { predictor(x, numbers.data(), 12); }) ==
             "[Predictor] the memory must have the 24 bytes of float32 (3, 2); got 12");
  Tensor wrong({2, 2});
  BOOST_TEST(refused<ShapeError>([&] { predictor(x, wrong); }) ==
             "[Predictor] output 0 must be float32 (3, 2); got float32 (2, 2)");
}

BOOST_AUTO_TEST_CASE(several_inputs_and_outputs_have_an_order_and_names) {
  const Value a = Input({3}, {.name = "a"}), b = Input({2}, {.name = "b"});
  const Value both = concatenate({a, b}, 1);
  Model model({a, b}, {Dense({.units = 1, .name = "mean"})(both), Dense({.units = 2, .name = "scale"})(both)});
  const Tensor x = random_tensor({4, 3}, DType::float32, 1), z = random_tensor({4, 2}, DType::float32, 2);
  const Tensors expected = model.predict_all({x, z});
  const Predictor predictor = model.predictor();
  for (const Tensors& inputs : {Tensors{x, z}, Tensors{{"b", z}, {"a", x}}}) {
    const Tensors outputs = predictor.predict_all(inputs);
    BOOST_TEST(largest_difference(outputs["mean"], expected["mean"]) < 1e-6);
    BOOST_TEST(largest_difference(outputs[1], expected[1]) < 1e-6);
  }
  std::vector<Tensor> outputs;
  predictor({x, z}, outputs);
  BOOST_TEST(largest_difference(outputs.at(1), expected[1]) < 1e-6);
  BOOST_TEST(refused<ValueError>([&] {
               predictor(Tensors{x, z});
             }) == "[Predictor] predict: the model must have one output; got 2: predict_all of a Model returns all");
  BOOST_TEST(refused<NameError>([&] {
               predictor.predict_all({{"a", x}, {"c", z}});
             }) == "[Predictor] input by name must be complete; got none for \"b\"; names: a, c");
  BOOST_TEST(refused<ValueError>([&] { predictor.predict_all(x); }) ==
             "[Predictor] number of input arrays must be 2; got 1");
  BOOST_TEST(refused<ShapeError>([&] {
               predictor.predict_all({x, random_tensor({3, 2}, DType::float32, 2)});
             }) == "[Predictor] inputs must have equal numbers of rows; got float32 (4, 3) and float32 (3, 2)");
  std::vector<Tensor> one(1);
  BOOST_TEST(refused<ValueError>([&] {
               predictor({x, z}, one);
             }) == "[Predictor] number of output arrays must be 2; got 1");
  BOOST_TEST(refused<ValueError>([&] {
               model.predictor({.input_names = {"c", "d"}});
             }) == "[Predictor] input_names is for modules without names of inputs; the model has a, b");
}

BOOST_AUTO_TEST_CASE(a_module_predicts_by_its_step) {
  class Lit : public Module {
   public:
    Value predict_step(const Batch& batch) override { return 2 * line_(batch["image"]); }

   private:
    Sequential line_ = sub("line", line(3));
  };
  Lit module;
  const Predictor named(module, {.examples = {{{"image", column({1})}}}});
  BOOST_TEST(named(column({2, 5})).to_doubles() == (std::vector<double>{12, 30}));
  const Predictor given(module, {.input_names = {"image"}});
  BOOST_TEST(given({{"image", column({4})}}).item() == 24);
  BOOST_TEST(refused<NameError>([&] {
               Predictor(module, {.examples = {column({1})}});
             }).find("[Batch] unknown field \"image\"") == 0);
}

BOOST_AUTO_TEST_CASE(precision_is_a_policy) {
  Sequential model = classifier();
  train(model);
  const Tensor x = pictures(4), exact = model.predict(x);
  const Predictor low(model, {.precision = "bf16-mixed"});
  BOOST_TEST((low(x).dtype() == DType::float32));
  const double difference = largest_difference(low(x), exact);
  BOOST_TEST(difference > 0);
  BOOST_TEST(difference < 0.02);
  BOOST_TEST((Predictor(model, {.precision = "float64"})(x).dtype() == DType::float64));
  {
    const auto region = autocast("mixed_bfloat16");
    BOOST_TEST(largest_difference(Predictor(model)(x), low(x)) == 0);
  }
  Sequential own({Dense({.units = 1, .dtype = "float32"})}, {.dtype = "float32"});
  own.build({1, 1});
  BOOST_TEST(refused<ValueError>([&] {
               own.predictor({.precision = "float16"});
             }).find("precision float16 must apply to a layer") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(steps_of_any_length_are_compiled_and_the_cache_is_bounded) {
  Sequential model({Input({-1, 2}), Masking(), LSTM({.units = 3}), Dense({.units = 1})});
  const Predictor predictor = model.predictor({.workers = 1, .max_plans = 2});
  for (const std::int64_t steps : {3, 5, 7, 3, 5}) {
    Tensor x = random_tensor({2, steps, 2}, DType::float32, 3);
    for (int i = 0; i < 4; ++i) x.mutable_data<float>()[i] = 0;  // masked
    BOOST_TEST(largest_difference(predictor(x), model.predict(x)) < 1e-6);
  }
  BOOST_TEST(refused<ValueError>([&] { model.predictor({.batch_sizes = {1}}); }).find("give examples") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_model_is_built_by_an_example) {
  Sequential model({Dense({.units = 2}), Dense({.units = 1})});
  BOOST_TEST(refused<ValueError>([&] { model.predictor(); }) ==
             "[Predictor] the model must be built; got one that was never called, and no examples");
  const Predictor predictor = model.predictor({.examples = {rows_of_4(2)}});
  BOOST_TEST(largest_difference(predictor(rows_of_4(3)), model.predict(rows_of_4(3))) < 1e-6);
}

BOOST_AUTO_TEST_CASE(errors_of_layers_leave_it_usable) {
  Sequential model(
      {Input({2}, {.dtype = "int32"}), Embedding({.input_dim = 5, .output_dim = 3}), Flatten(), Dense({.units = 1})});
  const Predictor predictor = model.predictor({.batch_sizes = {1}, .workers = 1});
  const Tensor good({1, 2}, std::vector<std::int32_t>{1, 4}), bad({1, 2}, std::vector<std::int32_t>{1, 5});
  const Tensor expected = predictor(good);
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(refused<ValueError>([&] { predictor(bad); }).find("5") != std::string::npos);
    BOOST_TEST(predictor(good).equal(expected));
  }
  Sequential dense({Input({4}), Dense({.units = 1})});
  const Predictor other = dense.predictor();
  BOOST_TEST(refused<ShapeError>([&] {
               other(random_tensor({2, 3}, DType::float32, 1));
             }).find("(2, 3)") != std::string::npos);
  BOOST_TEST(refused<ShapeError>([&] {
               other(Tensor({0, 4}));
             }) == "[Predictor] inputs must have a batch axis and rows; got float32 (0, 4)");
  BOOST_CHECK_NO_THROW(other(rows_of_4(2)));
}

BOOST_AUTO_TEST_CASE(a_model_with_a_state_is_refused) {
  class Counting : public Model {
   public:
    Counting() : Model("Counting") { count_.assign(Tensor(Shape{})); }

   protected:
    Value call(const Value& x) override {
      update_variable(count_.state().pointer(), count_ + 1);
      return x * count_;
    }

   private:
    Variable count_{"count"};
  };
  Counting model;
  model(column({1}));
  BOOST_TEST(refused<ValueError>([&] { Predictor(model, {.batch_sizes = {1}}); }) ==
             "[Predictor] the model must not change variables when it predicts; got an update of \"count\": use "
             "predict()");
}

BOOST_AUTO_TEST_CASE(draws_differ_from_call_to_call) {
  Sequential model({Input({2}), Lambda([](const Value& x) { return x * 0 + random::normal({4, 2}); })});
  const Predictor predictor = model.predictor({.batch_sizes = {4}});
  const Tensor x({4, 2});
  BOOST_TEST(!predictor(x).equal(predictor(x)));
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_named) {
  Net model = net();
  const auto text = [&](const PredictorOptions& options) {
    return refused<ValueError>([&] { Predictor(model, options); });
  };
  BOOST_TEST(text({.batch_sizes = {4, 0}}) == "[Predictor] batch_sizes must be 1 or more; got 0");
  BOOST_TEST(text({.workers = -1}) == "[Predictor] workers must be 0 or more; got -1");
  BOOST_TEST(text({.threads = -2}) == "[Predictor] threads must be 0 or more; got -2");
  BOOST_TEST(text({.max_plans = 0}) == "[Predictor] max_plans must be 1 or more; got 0");
  BOOST_TEST(text({.max_batch_size = 1}) == "[Predictor] max_batch_size must be 2 or more; got 1");
  BOOST_TEST(text({.max_delay = 0.5}) == "[Predictor] max_delay needs max_batch_size; got 0.5 without it");
  BOOST_TEST(text({.max_batch_size = 4, .max_delay = -1}) ==
             "[Predictor] max_delay must be in [0, 3600] seconds; got -1");
  BOOST_TEST(text({.input_names = {"a", "b"}}) ==
             "[Predictor] input_names must have 1 names, one for each input; got a, b");
  BOOST_TEST(Predictor(model, {.workers = 3, .threads = 2}).workers() == 3);
  BOOST_TEST(Predictor(model, {.workers = 3, .threads = 2}).threads() == 2);
  BOOST_TEST(Predictor(model).workers() == thread_count());
  BOOST_TEST(Predictor(model, {.workers = 1}).threads() == thread_count());
}

BOOST_AUTO_TEST_SUITE_END()
