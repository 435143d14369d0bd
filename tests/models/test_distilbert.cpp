#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "small.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor ids(const Shape& shape) { return random_tensor(shape, DType::int64, 1, 1, 19); }

DistilBert random_distilbert() {
  seed_everything(1);
  DistilBertOptions options = small_distilbert();
  options.initializer_range = 0.5;
  DistilBert model(options);
  model.build({1, 1});
  return model;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(distilbert)

BOOST_AUTO_TEST_CASE(padding_changes_nothing_before_it) {
  DistilBert model = random_distilbert();
  const Tensor whole = ids({1, 7}), part = slice(whole, {.starts = {0, 0}, .sizes = {-1, 4}}).tensor();
  const Tensor mask({1, 7}, std::vector<std::int64_t>{1, 1, 1, 1, 0, 0, 0});
  const Tensor expected = model(part).tensor(), padded = model(Values{whole, mask})[0].tensor();
  const auto first = [](const Tensor& x) { return slice(x, {.starts = {0, 0, 0}, .sizes = {-1, 4, -1}}).tensor(); };
  BOOST_TEST(largest_difference(first(padded), expected) < 1e-5);
  BOOST_TEST(largest_difference(first(model(whole).tensor()), expected) > 1e-2);
}

BOOST_AUTO_TEST_CASE(it_has_as_many_weights_as_hugging_faces) {
  DistilBert model;
  model(Input({.shape = {4}, .dtype = DType::int64}));
  BOOST_TEST(model.count_params() == 66'362'880);
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { DistilBert({.n_heads = 5}); }) ==
             "[DistilBert] n_heads must divide dim; got 5 and 768");
  BOOST_TEST(refused<ValueError>([] { DistilBert({.n_layers = 0, .name = "net"}); }) ==
             "[DistilBert \"net\"] n_layers must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { DistilBertForSequenceClassification({.num_labels = 0}); }) ==
             "[DistilBertForSequenceClassification] num_labels must be at least 1; got 0");
  DistilBert model = random_distilbert();
  BOOST_TEST(refused<ShapeError>([&] {
               model(ids({2, 11}));
             }) == "[DistilBert] input_ids may have at most 10 positions; got shape (2, 11)");
  const Value x = ids({2, 3});
  BOOST_TEST(refused<ValueError>([&] {
               model(Values{x, x, x});
             }) == "[DistilBert] takes 1 or 2 inputs (input_ids, attention_mask); got 3");
}

BOOST_AUTO_TEST_SUITE_END()
