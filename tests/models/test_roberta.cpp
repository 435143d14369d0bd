#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "small.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// With weights large enough for different outputs.
RobertaOptions wide_roberta() {
  RobertaOptions options = small_roberta();
  options.initializer_range = 0.5;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(roberta)

// Positions count tokens: padding in front of a text changes nothing behind it.
BOOST_AUTO_TEST_CASE(padding_in_front_changes_nothing) {
  seed_everything(1);
  Roberta model(wide_roberta());
  const Tensor padded({1, 6}, std::vector<std::int64_t>{1, 1, 5, 6, 7, 8}),
      mask({1, 6}, std::vector<std::int64_t>{0, 0, 1, 1, 1, 1});
  const Value whole = model(Values{padded, mask})[0];
  const Value part = model(Values{Tensor({1, 4}, std::vector<std::int64_t>{5, 6, 7, 8})})[0];
  const Tensor states = slice(whole, {.starts = {0, 2, 0}, .sizes = {-1, 4, -1}}).tensor();
  BOOST_TEST(largest_difference(states, part.tensor()) < 1e-5);
}

BOOST_AUTO_TEST_CASE(bad_options_and_calls_are_refused) {
  Roberta model(wide_roberta());
  BOOST_TEST(refused<ShapeError>([&] {
               model(Values{Tensor({2, 9}, DType::int64)});
             }) == "[Roberta] input_ids may have at most 8 positions; got shape (2, 9)");
  RobertaOptions options = wide_roberta();
  options.pad_token_id = 9;
  BOOST_TEST(refused<ValueError>([&] { const Roberta other(options); }) ==
             "[Roberta] pad_token_id must be from 0 to max_position_embeddings - 2 = 8; got 9");
  options.hidden_act = "magic";
  BOOST_TEST(refused<NameError>([&] {
               const Roberta other(options);
             }).rfind("[Roberta] unknown hidden_act \"magic\"; valid names: ", 0) == 0U);
  BOOST_TEST(refused<ValueError>([] { const RobertaForSequenceClassification other({.num_labels = 0}); }) ==
             "[RobertaForSequenceClassification] num_labels must be at least 1; got 0");
}

BOOST_AUTO_TEST_CASE(a_classifier_trains) {
  RobertaForSequenceClassification model({.roberta = wide_roberta(), .num_labels = 2});
  model.compile(
      {.optimizer = Adam({.learning_rate = 0.01}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Tensor x({4, 3}, std::vector<std::int64_t>{2, 3, 4, 5, 6, 7, 2, 8, 4, 5, 9, 7});
  const Tensor y({4}, std::vector<std::int64_t>{0, 1, 0, 1});
  const double before = model.train_on_batch(x, y).at("loss");
  for (int step = 0; step < 30; ++step) model.train_on_batch(x, y);
  BOOST_TEST(model.train_on_batch(x, y).at("loss") < before / 2);
}

BOOST_AUTO_TEST_SUITE_END()
