#include <boost/test/unit_test.hpp>

#include <future>
#include <thread>

#include "small.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<double> xs{1, 2, 3, 4}, ys{2, 3, 7, 7};

Sequential model_of(double weight, const char* policy) {
  Sequential model({Dense({.units = 2, .kernel_initializer = Constant(weight), .dtype = policy}), BatchNormalization(),
                    Dropout({.rate = 0.25}), Dense({.units = 1, .kernel_initializer = Constant(0.5)})});
  model.compile({.optimizer = SGD({.learning_rate = 0.01, .momentum = 0.9}), .loss = "mse"});
  model.build({1, 1});
  return model;
}

void train(Model& model) {
  model.fit(column(xs), column(ys), {.epochs = 5, .batch_size = 3, .verbose = false});
  model.evaluate(column(xs), column(ys));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(different_models_train_on_different_threads_as_one_after_another) {
  Sequential alone_a = model_of(0.5, "float32"), alone_b = model_of(1, "mixed_bfloat16");
  train(alone_a);
  train(alone_b);
  Sequential a = model_of(0.5, "float32"), b = model_of(1, "mixed_bfloat16"), copy_of_b = clone(b);
  std::thread first([&] { train(a); }), second([&] { train(b); }), third([&] { train(copy_of_b); });
  first.join();
  second.join();
  third.join();
  BOOST_TEST(changed_since(values_of(alone_a), a) == "");
  BOOST_TEST(changed_since(values_of(alone_b), b) == "");
  BOOST_TEST(changed_since(values_of(alone_b), copy_of_b) == "");
}

BOOST_AUTO_TEST_CASE(one_model_on_two_threads_is_refused_while_it_runs) {
  Sequential model = line(2);
  std::promise<void> begun, released;
  bool waits = true;
  const Dataset slow = Dataset::from_function(
      {.size = 1, .fields = {{.name = "x", .shape = {1}}}, .function = [&](std::int64_t) -> std::vector<Tensor> {
         if (std::exchange(waits, false)) {
           begun.set_value();
           released.get_future().wait();
         }
         return {Tensor({1}, std::vector<float>{3})};
       }});
  Tensor predicted;
  std::thread other([&] { predicted = model.predict(DataLoader(slow, {.workers = 0})); });
  begun.get_future().wait();
  const std::string text = refused<ValueError>([&] { model.predict(column({1})); });
  released.set_value();
  other.join();
  BOOST_TEST(text == "[Trainer] the model must be idle; got a call while another thread or step runs it");
  BOOST_TEST(predicted.item() == 6);
  BOOST_TEST(model.predict(column({1})).item() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
