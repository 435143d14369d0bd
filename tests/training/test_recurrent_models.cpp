// Recurrent layers in models: trained, in functional graphs, saved and loaded.
#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Sequences (samples, 8, 2), and 1 for those whose first feature has a positive sum.
std::pair<Tensor, Tensor> sums(std::int64_t samples) {
  const Tensor x = random_tensor({samples, 8, 2});
  Tensor y({samples, 1});
  for (std::int64_t i = 0; i < samples; ++i) {
    double sum = 0;
    for (std::int64_t t = 0; t < 8; ++t) sum += static_cast<double>(x.data<float>()[(i * 8 + t) * 2]);
    y.mutable_data<float>()[i] = sum > 0 ? 1.0F : 0.0F;
  }
  return {x, y};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent_models)

BOOST_AUTO_TEST_CASE(an_lstm_learns) {
  const auto data = sums(128);
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    seed_everything(3);
    Sequential model(
        {Input({8, 2}), LSTM(8, {.dropout = 0.05, .recurrent_dropout = 0.05}), Dense(1, {.activation = "sigmoid"})},
        {.dtype = policy});
    model.compile({.optimizer = Adam(0.03), .loss = "binary_crossentropy"});
    const History history = model.fit(data.first, data.second, {.batch_size = 32, .epochs = 20, .verbose = 0});
    const auto losses = history["loss"];
    BOOST_TEST(losses.back() < 0.5 * losses.front(), policy << ": " << losses.front() << " to " << losses.back());
    const Folder folder;
    model.save(folder.path("model.mezzo"));
    const auto again = load_model(folder.path("model.mezzo"));
    BOOST_TEST(again->predict(data.first).equal(model.predict(data.first)));
  }
}

BOOST_AUTO_TEST_CASE(states_and_masks_in_functional_graphs) {
  Input x({5, 3}), mask({5}, {.dtype = "bool"});
  LSTM encoder(4, {.return_state = true}), decoder(4, {.return_sequences = true});
  const Values encoded = encoder(Values{x}, {.mask = mask});
  Model model({x, mask}, {decoder(x, {.initial_state = {encoded[1], encoded[2]}})});
  const Tensor numbers = random_tensor({2, 5, 3});
  Tensor some({2, 5}, DType::boolean);
  for (std::int64_t i = 0; i < some.size(); ++i) some.mutable_data<bool>()[i] = i % 3 != 0;
  const Values states = encoder(Values{numbers}, {.mask = some});
  const Tensor expected = decoder(numbers, {.initial_state = {states[1], states[2]}}).tensor();
  BOOST_TEST(largest_difference(model.predict(std::vector<Tensor>{numbers, some}), expected) <= 1e-6);
  const auto again = model_from_json(model.to_json());
  again->set_weights(model.get_weights());
  BOOST_TEST(largest_difference(again->predict(std::vector<Tensor>{numbers, some}), expected) <= 1e-6);
}

BOOST_AUTO_TEST_CASE(states_continue_in_prediction) {
  Sequential model({Input({.shape = {4, 2}, .batch_size = 2}), GRU(3, {.stateful = true})});
  const Tensor x = random_tensor({2, 4, 2});
  const Tensor first = model.predict(x, {.batch_size = 2}), second = model.predict(x, {.batch_size = 2});
  BOOST_TEST(!first.equal(second));
}

BOOST_AUTO_TEST_SUITE_END()
