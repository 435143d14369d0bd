#include <boost/test/unit_test.hpp>

#include <mezzo/core/parallel.hpp>

#include "small.hpp"
#include "support/child.hpp"
#include "support/layers.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor images() {
  std::vector<float> numbers(std::size_t{16} * 12 * 12);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 17) / 17;
  return {{16, 12, 12, 1}, numbers};
}

Sequential model_of_images() {
  Sequential model({Conv2D({.filters = 16, .kernel_size = 3, .activation = "relu"}), Flatten(), Dense({.units = 10})});
  model.compile({.optimizer = SGD({.learning_rate = 0.01, .momentum = 0.9}), .loss = "mse"});
  return model;
}

void train(Model& model) { model.fit(images(), Tensor({16, 10}), {.batch_size = 8, .epochs = 2, .verbose = false}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(forks)

BOOST_AUTO_TEST_CASE(a_child_trains_and_predicts_as_its_parent) {
  const int threads = thread_count();
  set_thread_count(2);
  Sequential model = model_of_images();
  train(model);
  model.predict(images());
  Sequential twin = clone(model);
  Sequential fresh = model_of_images();  // compiled in the child
  BOOST_TEST(in_child([&] {
    train(fresh);
    train(model);  // plans of the parent
    const auto weights = values_of(model);
    const Tensor predicted = model.predict(images());
    for (std::size_t i = 0; i < model.weights().size(); ++i) twin.weights()[i].assign(model.weights()[i].value());
    return twin.predict(images()).equal(predicted) && changed_since(weights, model).empty();
  }));
  train(model);  // the parent goes on
  const Tensor predicted = model.predict(images());
  Sequential again = clone(model);
  BOOST_TEST(again.predict(images()).equal(predicted));
  set_thread_count(threads);
}

BOOST_AUTO_TEST_CASE(eager_ops_compute_in_a_child) {
  const int threads = thread_count();
  set_thread_count(2);
  const Tensor a({256, 256}, std::vector<float>(65536, 0.5F));
  const Tensor product = matmul(a, a).tensor();
  BOOST_TEST(in_child([&] { return matmul(a, a).tensor().equal(product); }));
  set_thread_count(threads);
}

BOOST_AUTO_TEST_SUITE_END()
