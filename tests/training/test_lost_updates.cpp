// The notice of updates that rounding to 16 bits loses.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr const char* remedies =
    " weights were lost by rounding; what keeps them: the optimizer's stochastic_rounding or kahan_summation, or "
    "its "
    "split_master_weights with precision \"bf16-mixed\"\n";

struct Run {
  Any<Optimizer> optimizer{};
  const char* precision = "bf16-true";
  int epochs = 2;
  bool eager = false;
  int accumulate = 1;
};

// Trains y = w x of 100 weights of about 1, with gradients of about 1.
std::string told_of(const Run& run) {
  Sequential model({Dense(
      {.units = 10, .use_bias = false, .kernel_initializer = RandomUniform({.minval = 1, .maxval = 1.9, .seed = 3})})});
  model.compile({.optimizer = run.optimizer, .loss = "mae"});
  const DataLoader data(Dataset::from_tensors({{"x", random_tensor({40, 10}, DType::float32, 1, 0.5, 1)},
                                               {"y", Tensor({40, 10}, DType::float32), Role::target}}),
                        {.batch_size = 2});
  const CapturedOutput output;
  Trainer({.max_epochs = run.epochs,
           .accumulate_grad_batches = run.accumulate,
           .precision = run.precision,
           .enable_progress_bar = false,
           .eager = run.eager})
      .fit(model, data);
  return output.text();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_updates)

// Neighbours of numbers from 1 to 2 are 1/128 apart.
BOOST_AUTO_TEST_CASE(are_told_of_once) {
  const std::string expected =
      std::string("mezzo: warning: [Trainer] epoch 1: 100 % of the updates of bfloat16") + remedies;
  for (const bool eager : {false, true}) {
    BOOST_TEST(told_of({.optimizer = Adam({.learning_rate = 1e-4}), .eager = eager}) == expected);
    BOOST_TEST(told_of({.optimizer = SGD({.learning_rate = 1e-3}), .eager = eager}) == expected);
  }
  BOOST_TEST(told_of({.optimizer = RMSprop({.learning_rate = 1e-4}), .accumulate = 3}) == expected);
  BOOST_TEST(told_of({.optimizer = Adam({.learning_rate = 1e-5}), .precision = "16-true"}) ==
             "mezzo: warning: [Trainer] epoch 1: 100 % of the updates of float16 weights were lost by rounding; what "
             "keeps them: the optimizer's kahan_summation, or precision \"16-mixed\"\n");
}

BOOST_AUTO_TEST_CASE(updates_that_are_kept_or_zero_are_not_told_of) {
  for (const bool eager : {false, true}) {
    BOOST_TEST(told_of({.optimizer = Adam({.learning_rate = 1e-2}), .eager = eager}) == "");
    BOOST_TEST(told_of({.optimizer = Adam({.learning_rate = 1e-4, .stochastic_rounding = true}), .eager = eager}) ==
               "");
    BOOST_TEST(told_of({.optimizer = Adam({.learning_rate = 1e-4, .kahan_summation = true}), .eager = eager}) == "");
    BOOST_TEST(told_of({.optimizer = Adam({.learning_rate = 0}), .eager = eager}) == "");
    BOOST_TEST(told_of({.optimizer = Adam({.learning_rate = 1e-4}), .precision = "bf16-mixed", .eager = eager}) == "");
  }
}

// Rows of a table that no sample reads have no gradient: they don't count as lost.
BOOST_AUTO_TEST_CASE(rows_without_a_gradient_do_not_count) {
  for (const double rate : {0.1, 1e-4}) {
    for (const bool eager : {false, true}) {
      Sequential model({Embedding(1000, 4, {.embeddings_initializer = Constant(1.5)}), Flatten(),
                        Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1.5)})});
      model.compile({.optimizer = SGD({.learning_rate = rate}), .loss = "mae"});
      Tensor x({20, 1}, DType::int32);
      for (int i = 0; i < 20; ++i) x.mutable_data<std::int32_t>()[i] = i % 4;
      const DataLoader data(Dataset::from_tensors({{"x", x}, {"y", Tensor({20, 1}), Role::target}}), {.batch_size = 4});
      const CapturedOutput output;
      Trainer({.max_epochs = 1, .precision = "bf16-true", .enable_progress_bar = false, .eager = eager})
          .fit(model, data);
      BOOST_TEST((output.text() == "") == (rate == 0.1), output.text());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
