#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "small.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(gpt)

BOOST_AUTO_TEST_CASE(sizes_are_hugging_faces) {
  struct Size {
    GPTOptions options;
    std::int64_t layers, size, heads;
  };
  for (const Size& size : {Size{gpt2(), 12, 768, 12}, Size{gpt2_medium(), 24, 1024, 16},
                           Size{gpt2_large(), 36, 1280, 20}, Size{gpt2_xl({.vocab_size = 99}), 48, 1600, 25}}) {
    BOOST_TEST(size.options.n_layer == size.layers);
    BOOST_TEST(size.options.n_embd == size.size);
    BOOST_TEST(size.options.n_head == size.heads);
  }
  BOOST_TEST(gpt2_xl({.vocab_size = 99}).vocab_size == 99);
}

BOOST_AUTO_TEST_CASE(no_position_sees_a_later_one) {
  seed_everything(1);
  GPTOptions options = small_gpt();
  options.initializer_range = 0.5;
  GPT model(options);
  const Tensor x = random_tensor({2, 7}, DType::int64, 1, 0, 17);
  const Tensor whole = model(x).tensor();
  for (std::int64_t count = 1; count < 7; ++count) {
    const Tensor part = model(slice(x, {.starts = {0, 0}, .sizes = {-1, count}})).tensor();
    BOOST_TEST(largest_difference(slice(whole, {.starts = {0, 0, 0}, .sizes = {-1, count, -1}}).tensor(), part) < 1e-5);
  }
  std::vector<std::int64_t> ids(x.data<std::int64_t>(), x.data<std::int64_t>() + 14);
  ids[0] = (ids[0] + 1) % 17;  // only row 0 depends on it, at all positions
  const Tensor other = model(Tensor({2, 7}, ids)).tensor();
  const auto row = [](const Tensor& y, std::int64_t i) { return y.slice(i, i + 1); };
  BOOST_TEST(largest_difference(row(other, 1), row(whole, 1)) < 1e-5);
  BOOST_TEST(largest_difference(slice(other, {.starts = {0, 6, 0}, .sizes = {1, 1, -1}}).tensor(),
                                slice(whole, {.starts = {0, 6, 0}, .sizes = {1, 1, -1}}).tensor()) > 1e-3);
}

BOOST_AUTO_TEST_CASE(it_is_called_on_symbols_and_cloned) {
  const Tensor x = random_tensor({2, 7}, DType::int64, 1, 0, 17);
  GPT model(small_gpt());
  const Tensor expected = model.predict(x);
  const Value input = Input({.shape = {7}, .dtype = DType::int64});
  BOOST_TEST(Model({.inputs = {input}, .outputs = {model(input)}}).predict(x).equal(expected));
  GPT copy = clone(model);
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(copy.predict(x).equal(expected));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { GPT({.n_head = 5}); }) == "[GPT] n_head must divide n_embd; got 5 and 768");
  BOOST_TEST(refused<ValueError>([] { GPT({.n_layer = 0, .name = "net"}); }) ==
             "[GPT \"net\"] n_layer must be at least 1; got 0");
  GPT model(small_gpt());
  BOOST_TEST(refused<ShapeError>([&] {
               model(Tensor({2, 13}, DType::int64));
             }) == "[GPT] input_ids may have at most 12 positions; got 13");
  const Value x = Tensor({2, 3}, DType::int64);
  BOOST_TEST(refused<ValueError>([&] {
               model(Values{x, x});
             }) == "[GPT] takes input_ids, and optionally position_ids and segment_ids; got 2 inputs");
}

BOOST_AUTO_TEST_SUITE_END()
