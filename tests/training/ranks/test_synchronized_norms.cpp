// Batch normalization with the statistics of all ranks, against one process with the joined batches.
#include <boost/test/unit_test.hpp>

#include "support/environment.hpp"
#include "training/ranks/rank_modules.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Batches of 12 samples for all ranks.
RankRun norm_run(RankNetOptions net, TrainerOptions trainer = {}) {
  net.batch_norm = true;
  return {.net = std::move(net), .trainer = rank_trainer(std::move(trainer)), .loader = {.batch_size = 12}};
}

// Convolutions with norms, a ReLU behind one and a residual behind the other, on pictures of 2 x 1 pixels.
class Pictures : public Module {
 public:
  Pictures() : Module("Pictures") {}
  Value call(const Value& x) override {
    const Value h = relu(first_norm_(first_(reshape(x, {-1, 2, 1, 3}))));
    return dense_(reshape(relu(second_norm_(second_(h)) + h), {-1, 8}));
  }
  Value training_step(const Batch& batch) override { return mean(square((*this)(batch["x"]) - 1)); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.1})}}; }

 private:
  Conv2D first_ = sub("first", Conv2D(4, 1));
  BatchNormalization first_norm_ = sub("first_norm", BatchNormalization());
  Conv2D second_ = sub("second", Conv2D(4, 1));
  BatchNormalization second_norm_ = sub("second_norm", BatchNormalization());
  Dense dense_ = sub("dense", Dense({.units = 2}));
};

// The same with layers that the backward pass computes again, without a second reduction of the statistics.
class PicturesAgain : public Pictures {
 public:
  PicturesAgain() {
    for (const auto& child : state()->children) child.second->remat = {detail::RematRule::Mode::full, 0};
  }
};

// Reductions of statistics in a training step of 2 ranks.
template <class M>
std::size_t reductions_in_step() {
  std::string explained;
  const auto errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& own) {
    weights_after<M>(own, rank_trainer({.sync_batchnorm = true}), 53, own->rank() == 0 ? &explained : nullptr);
  });
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
  std::size_t count = 0;
  const std::string name = "mean_over_ranks";
  for (auto at = explained.find(name); at != std::string::npos; at = explained.find(name, at + 1)) ++count;
  return count;
}

// A norm of the steps whose first number is positive.
class Masked : public Module {
 public:
  Masked() : Module("Masked") {}
  Value call(const Value& x) override {
    const Value steps = reshape(x, {-1, 3, 2});
    const Value mask = slice(steps, {.starts = {0, 0, 0}, .sizes = {-1, -1, 1}}) > 0.0;
    return dense_(reshape(norm_(first_(steps).with_mask(reshape(mask, {-1, 3}))), {-1, 12}));
  }
  Value training_step(const Batch& batch) override { return mean(square((*this)(batch["x"]) - 1)); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }

 private:
  Dense first_ = sub("first", Dense({.units = 4}));
  BatchNormalization norm_ = sub("norm", BatchNormalization({.synchronized = true}));
  Dense dense_ = sub("dense", Dense({.units = 2}));
};

// A functional graph, whose nodes were made before the training.
std::vector<double> functional_weights(Strategy strategy, bool sync_batchnorm) {
  const auto ranks = strategy.communicator();
  const Input x({6}, {.dtype = "float64"});
  const Value h = BatchNormalization({.axis = 1})(Dense({.units = 4, .kernel_initializer = Constant(0.3)})(x));
  Model model({.inputs = {x}, .outputs = {Dense({.units = 3, .kernel_initializer = Constant(0.1)})(tanh(h))}});
  model.compile(
      {.optimizer = SGD({.learning_rate = 0.1}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  TrainerOptions options = rank_trainer();
  options.sync_batchnorm = sync_batchnorm;
  options.strategy = std::move(strategy);
  Trainer(options).fit(model, DataLoader(rank_data(50), {.batch_size = 12 / (ranks ? ranks->size() : 1)}));
  std::vector<double> out;
  for (const Tensor& weight : model.get_weights()) {
    const std::vector<double> numbers = weight.to_doubles();
    out.insert(out.end(), numbers.begin(), numbers.end());
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(synchronized_norms)

// 53 = 4 * 12 + 5: blocks of 3 and 2; of 2, 2 and 1; of 2, 1, 1 and 1 samples. 49: one sample for rank 0 alone.
BOOST_AUTO_TEST_CASE(a_synchronized_layer_has_the_statistics_of_the_joined_batch) {
  for (const std::int64_t samples : {48, 53, 49}) {
    RankRun run = norm_run({.dropout = 0.2, .synchronized = true});
    run.samples = samples;
    run.validation_samples = samples - 12;
    const RankResult one = run_of_rank(run, "single");
    for (const int ranks : {2, 3, 4}) {
      const double difference = difference_of(run_by_ranks(run, ranks), one);
      BOOST_TEST(difference < 1e-12, samples << " samples, " << ranks << " ranks: " << difference);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_trainers_option_synchronizes_all_layers) {
  RankRun run = norm_run({}, {.sync_batchnorm = true});
  run.samples = 53;
  const RankResult one = run_of_rank(run, "single");
  BOOST_TEST(difference_of(run_by_ranks(run, 3), one) < 1e-12);
  run.trainer.sync_batchnorm = false;
  BOOST_TEST(difference_of(run_by_ranks(run, 3), one) > 1e-3);
  const Environment set("MEZZO_TRAINER_SYNC_BATCHNORM", "true");
  BOOST_TEST(TrainerOptions().sync_batchnorm);
}

BOOST_AUTO_TEST_CASE(fused_norms_of_pictures) {
  for (const int ranks : {2, 4}) {
    const double difference = difference_by_ranks<Pictures>(ranks, rank_trainer({.sync_batchnorm = true}), 53);
    BOOST_TEST(difference < 1e-12);
  }
  const double again = difference_by_ranks<PicturesAgain>(2, rank_trainer({.sync_batchnorm = true}), 53);
  BOOST_TEST(again < 1e-12);
  BOOST_TEST(reductions_in_step<Pictures>() > 0U);
  BOOST_TEST(reductions_in_step<PicturesAgain>() == reductions_in_step<Pictures>());
  const double float32 =
      difference_by_ranks<Pictures>(3, rank_trainer({.sync_batchnorm = true, .precision = "float32"}), 53);
  BOOST_TEST(float32 < 1e-4);  // rounding, which SGD amplifies over 15 steps
  const double bfloat16 =
      difference_by_ranks<Pictures>(3, rank_trainer({.sync_batchnorm = true, .precision = "mixed_bfloat16"}), 53);
  BOOST_TEST(bfloat16 < 0.1);
}

BOOST_AUTO_TEST_CASE(masked_norms) {
  for (const int ranks : {2, 3}) {
    const double difference = difference_by_ranks<Masked>(ranks, rank_trainer(), 53);
    BOOST_TEST(difference < 1e-12);
  }
}

// The others wait for its statistics in the forward pass.
BOOST_AUTO_TEST_CASE(a_rank_that_fails_ends_the_others) {
  const auto errors = run_ranks(3, [&](const std::shared_ptr<Communicator>& own) {
    RankRun run = norm_run({.synchronized = true});
    if (own->rank() == 1) {
      run.trainer.callbacks = {LambdaCallback({.on_train_batch_begin = [](std::int64_t batch, Logs&) {
        if (batch == 1) throw Error("the disk is full");
      }})};
    }
    run_of_rank(run, own);
  });
  BOOST_TEST(errors[1] == "the disk is full");
  for (const std::size_t rank : {0U, 2U}) {
    BOOST_TEST(errors[rank] == "[Communicator] rank 1 has failed: the disk is full");
  }
}

BOOST_AUTO_TEST_CASE(functional_models) {
  const std::vector<double> one = functional_weights("single", true);
  std::vector<std::vector<double>> with(3), without(3);
  const auto errors = run_ranks(3, [&](const std::shared_ptr<Communicator>& own) {
    const auto rank = static_cast<std::size_t>(own->rank());
    with[rank] = functional_weights(own, true);
    without[rank] = functional_weights(own, false);
  });
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
  for (std::size_t rank = 0; rank < 3; ++rank) BOOST_TEST(largest_difference(with[rank], one) < 1e-12);
  BOOST_TEST(largest_difference(without[0], one) > 1e-3);
}

BOOST_AUTO_TEST_SUITE_END()
