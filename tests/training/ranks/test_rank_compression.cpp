// gradient_compression = "bf16": values, error feedback, bits.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Ranks = std::shared_ptr<Communicator>;

// Loss x w: the gradient of w is the mean of x.
class Linear : public Module {
 public:
  Linear() : Module("Linear") { build({1, 1}); }
  Value call(const Value& x) override { return line_(x); }
  Value training_step(const Batch& batch) override { return mean(line_(batch["x"])); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 1})}}; }
  double weight() const { return weights()[0].value().item(); }

 private:
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0)}));
};

// Weight after steps with gradient (a + b) / 2 by two ranks.
double weight_after(std::int64_t steps, double a, double b, const TrainerOptions& options) {
  std::vector<double> weights(2);
  const auto errors = run_ranks(2, [&](const Ranks& own) {
    std::vector<double> x;
    for (std::int64_t i = 0; i < steps; ++i) x.insert(x.end(), {a, b});
    Linear model;
    TrainerOptions trainer = rank_trainer(options);
    trainer.max_epochs = 1;
    trainer.strategy = own;
    const Dataset data = Dataset::from_tensors({{"x", Tensor({2 * steps, 1}, x).cast(DType::float32)}});
    Trainer(trainer).fit(model, DataLoader(data, {.batch_size = 1}));
    weights[static_cast<std::size_t>(own->rank())] = model.weight();
  });
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
  BOOST_TEST(weights[0] == weights[1]);
  return weights[0];
}

RankRun compressed_run(TrainerOptions trainer = {}) {
  trainer.gradient_compression = "bf16";
  trainer.precision = "float32";
  RankRun run{.net = {}, .trainer = rank_trainer(std::move(trainer)), .loader = {.batch_size = 12}};
  run.samples = 53;
  return run;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_compression)

// bfloat16 has 8 bits: the sends of 1 / 2 + 2^-11 and of other numbers lose up to 2^-10 each. Without feedback 64 steps
// would lose 64 * 2^-11. With it a rank owes one rounding error of its sends and one of its sums at any time.
BOOST_AUTO_TEST_CASE(rounding_errors_are_sent_later) {
  constexpr std::int64_t steps = 64;
  for (const auto& [a, b] : {std::pair(1 + 0x1p-10, 1 + 0x1p-10), std::pair(1 + 0x1p-10, 0.7), std::pair(1e-3, 0.3)}) {
    for (const bool shards : {false, true}) {
      for (const int window : {1, 2}) {
        const TrainerOptions options{.accumulate_grad_batches = window,
                                     .shard_optimizer_states = shards,
                                     .gradient_compression = "bf16",
                                     .precision = "float32"};
        const std::int64_t updates = steps / window;
        const double expected = -static_cast<double>(updates) * (a + b) / 2;
        const double error = std::abs(weight_after(steps, a, b, options) - expected);
        BOOST_TEST(error < 2 * 0x1p-9 + 0x1p-8 + 1e-5 * std::abs(expected));  // two sends, one sum; float32 sums
      }
    }
  }
}

// Each gradient is off by at most 2^-9 of itself at a rank and 2^-9 of the sum, and all errors are paid back but for
// the last. The gradients of this net are below 1, and 15 updates with a rate of 0.2 amplify an error less than 4
// times.
BOOST_AUTO_TEST_CASE(weights_are_near_those_of_whole_gradients) {
  for (const bool shards : {false, true}) {
    RankRun run = compressed_run({.shard_optimizer_states = shards});
    const RankResult compressed = run_by_ranks(run, 3);
    run.trainer.gradient_compression = "";
    const RankResult whole = run_by_ranks(run, 3);
    const double difference = difference_of(compressed, whole);
    BOOST_TEST(difference > 0);
    BOOST_TEST(difference < 4 * 0.2 * 0x1p-7);
  }
}

BOOST_AUTO_TEST_CASE(two_runs_have_equal_bits) {
  for (const bool shards : {false, true}) {
    RankRun run = compressed_run({.shard_optimizer_states = shards});
    run.net.dropout = 0.2;
    const double difference = difference_of(run_by_ranks(run, 3), run_by_ranks(run, 3));
    BOOST_TEST(difference == 0);
  }
}

BOOST_AUTO_TEST_CASE(loss_scaling_and_skips) {
  const TrainerOptions options{.gradient_compression = "bf16",
                               .precision = "mixed_float16",
                               .loss_scale = LossScaleOptions{.initial_scale = 0x1p20}};
  // The first steps overflow and are skipped: the scale falls to 2^15 or less.
  const double weight = weight_after(64, 1, 0.7, options);
  BOOST_TEST(weight < -0.85 * 50);
  BOOST_TEST(std::abs(weight / 0.85 - std::round(weight / 0.85)) < 0.02);  // whole steps
}

BOOST_AUTO_TEST_CASE(an_unknown_name_is_an_error) {
  BOOST_CHECK_EXCEPTION(Trainer({.gradient_compression = "fp8"}), NameError, [](const NameError& error) {
    return std::string(error.what()) == "[Trainer] unknown gradient_compression \"fp8\"; valid names: bf16";
  });
}

BOOST_AUTO_TEST_SUITE_END()
