// keras.io/guides/functional_api, a model with several inputs: see two_inputs.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(two_inputs)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const std::int32_t num_tags = 6, num_words = 40, num_departments = 4;
  const Input title_input({-1}, {.dtype = "int32", .name = "title"});
  const Input body_input({-1}, {.dtype = "int32", .name = "body"});
  const Input tags_input({num_tags}, {.name = "tags"});
  Value title_features = layers::Embedding(num_words, 8)(title_input);
  Value body_features = layers::Embedding(num_words, 8)(body_input);
  title_features = layers::GlobalAveragePooling1D()(title_features);
  body_features = layers::GlobalAveragePooling1D()(body_features);
  const Value x = layers::concatenate({title_features, body_features, tags_input});
  const Value department_pred = layers::Dense(num_departments, {.name = "department"})(x);
  Model model({title_input, body_input, tags_input}, department_pred);
  auto expected = example("two_inputs");
  initialize(model, expected["shapes"]);
  model.compile(
      {.optimizer = RMSprop(1e-2), .loss = CategoricalCrossentropy({.from_logits = true}), .metrics = {"accuracy"}});
  const Tensor title_data = random_integers(1, {32, 4}, num_words);
  const Tensor body_data = random_integers(2, {32, 12}, num_words);
  const Tensor tags_data = random_integers(3, {32, num_tags}, 2).cast(DType::float32);
  const Tensor dept_targets = one_hot(random_integers(4, {32}, num_departments), num_departments).tensor();
  check_history(model.fit({{"title", title_data}, {"body", body_data}, {"tags", tags_data}}, dept_targets,
                          {.batch_size = 8, .epochs = 4, .verbose = 0, .shuffle = false}),
                expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
