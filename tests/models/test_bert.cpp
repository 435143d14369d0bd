#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "small.hpp"
#include "support/refused.hpp"
#include "support/runs.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor ids(const Shape& shape, std::uint64_t seed = 1) { return random_tensor(shape, DType::int64, seed, 1, 19); }

Bert random_bert() {
  seed_everything(1);
  BertOptions options = small_bert();
  options.initializer_range = 0.5;
  Bert model(options);
  model.build({1, 1});
  return model;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bert)

BOOST_AUTO_TEST_CASE(sizes_are_hugging_faces) {
  struct Size {
    BertOptions options;
    std::int64_t layers, size, heads;
  };
  for (const Size& size :
       {Size{bert_base(), 12, 768, 12}, Size{bert_large(), 24, 1024, 16}, Size{minilm_l6(), 6, 384, 12}}) {
    BOOST_TEST(size.options.num_hidden_layers == size.layers);
    BOOST_TEST(size.options.hidden_size == size.size);
    BOOST_TEST(size.options.intermediate_size == 4 * size.size);
    BOOST_TEST(size.options.num_attention_heads == size.heads);
  }
  BOOST_TEST(bert_large({.hidden_dropout_prob = 0}).hidden_dropout_prob == 0);
}

BOOST_AUTO_TEST_CASE(no_mask_sees_all_and_no_types_are_0) {
  Bert model = random_bert();
  const Tensor x = ids({2, 5}), ones({2, 5}, std::vector<std::int64_t>(10, 1)), zeros({2, 5}, DType::int64);
  const Values expected = model(Values{x, ones, zeros});
  for (const Values& inputs : {Values{x}, Values{x, ones}}) {
    const Values got = model(inputs);
    BOOST_TEST(largest_difference(got[0].tensor(), expected[0].tensor()) < 1e-6);
    BOOST_TEST(largest_difference(got[1].tensor(), expected[1].tensor()) < 1e-6);
  }
  BOOST_TEST(largest_difference(model(Values{x, ones, ones})[1].tensor(), expected[1].tensor()) > 1e-2);
}

BOOST_AUTO_TEST_CASE(padding_changes_nothing_before_it) {
  Bert model = random_bert();
  const Tensor whole = ids({1, 7}), part = slice(whole, {.starts = {0, 0}, .sizes = {-1, 4}}).tensor();
  const Tensor mask({1, 7}, std::vector<std::int64_t>{1, 1, 1, 1, 0, 0, 0});
  const Values padded = model(Values{whole, mask}), short_one = model(Values{part});
  const Tensor states = slice(padded[0], {.starts = {0, 0, 0}, .sizes = {-1, 4, -1}}).tensor();
  BOOST_TEST(largest_difference(states, short_one[0].tensor()) < 1e-5);
  BOOST_TEST(largest_difference(padded[1].tensor(), short_one[1].tensor()) < 1e-5);
}

BOOST_AUTO_TEST_CASE(without_pooling_layer_there_is_one_output) {
  BertOptions options = small_bert();
  options.add_pooling_layer = false;
  Bert model(options);
  const Values outputs = model(Values{ids({2, 3})});
  BOOST_TEST(outputs.size() == 1U);
  BOOST_TEST((outputs[0].shape() == Shape{2, 3, 12}));
}

BOOST_AUTO_TEST_CASE(the_last_layer_of_a_classifier_computes_every_position_if_wanted) {
  BertOptions options = small_bert();
  options.hidden_dropout_prob = options.attention_probs_dropout_prob = 0;
  const Tensor x = ids({2, 5});
  Tensor logits[2];
  for (const bool all : {false, true}) {
    seed_everything(1);
    BertForSequenceClassification model({.bert = options, .all_positions = all});
    logits[all ? 1 : 0] = model(Values{x})[0].tensor();
    const Graph graph = trace_step([&](const Values& inputs) { return model(inputs); }, {x}, true);
    std::vector<std::int64_t> queries;
    for (const detail::NodePtr& node : graph.nodes) {
      if (node->op->name == "scaled_dot_product_attention") queries.push_back(node->inputs[0].shape()[1]);
    }
    BOOST_TEST((queries == std::vector<std::int64_t>{5, all ? 5 : 1}));
  }
  BOOST_TEST(largest_difference(logits[0], logits[1]) < 1e-6);
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { Bert({.num_attention_heads = 5}); }) ==
             "[Bert] num_attention_heads must divide hidden_size; got 5 and 768");
  BOOST_TEST(refused<ValueError>([] { Bert({.vocab_size = 0, .name = "net"}); }) ==
             "[Bert \"net\"] vocab_size must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { BertForSequenceClassification({.num_labels = 0}); }) ==
             "[BertForSequenceClassification] num_labels must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { BertForSequenceClassification({.bert = {.add_pooling_layer = false}}); }) ==
             "[BertForSequenceClassification] bert.add_pooling_layer must be true; got false");
  BOOST_TEST(refused<ValueError>([] { Bert({.add_pooling_layer = false, .pooled_only = true}); }) ==
             "[Bert] add_pooling_layer must be true with pooled_only; got false");
  Bert model = random_bert();
  BOOST_TEST(refused<ShapeError>([&] {
               model(Values{ids({2, 11})});
             }) == "[Bert] input_ids may have at most 10 positions; got shape (2, 11)");
  const Tensor x = ids({2, 3});
  BOOST_TEST(refused<ValueError>([&] {
               model(Values{x, x, x, x});
             }) == "[Bert] takes 1 to 3 inputs (input_ids, attention_mask, token_type_ids); got 4");
}

BOOST_AUTO_TEST_SUITE_END()
