// Steps of other forms by several ranks against one process: several optimizers and updates, frozen parts, noise, mixed
// precision, buckets.
#include <boost/test/unit_test.hpp>

#include <atomic>

#include "training/ranks/rank_modules.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Two parts with an optimizer each, of which the first makes two updates a step, and a frozen layer.
class TwoParts : public Module {
 public:
  TwoParts() : Module("TwoParts") { frozen_.set_trainable(false); }
  Value call(const Value& x) override { return second_(noise_(tanh(frozen_(first_(x))))); }
  Value training_step(const Batch& batch) override {
    for (int i = 0; i < 2; ++i) minimize(mean(square((*this)(batch["x"]) - 1)), optimizer("first"));
    const Value loss = mean(square((*this)(batch["x"]) - 2));
    minimize(loss, optimizer("second"));
    return loss;
  }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = SGD({.learning_rate = 0.05}), .weights = first_.weights(), .name = "first"},
            {.optimizer = Adam({.learning_rate = 0.02}), .weights = second_.weights(), .name = "second"}};
  }

 private:
  Dense first_ = sub("first", Dense({.units = 5}));
  Dense frozen_ = sub("frozen", Dense({.units = 4}));
  GaussianNoise noise_ = sub("noise", GaussianNoise(0.3));
  Dense second_ = sub("second", Dense({.units = 2}));
};

// Images that are flipped at random.
class Flipped : public Module {
 public:
  Flipped() : Module("Flipped") {}
  Value call(const Value& x) override { return dense_(reshape(flip_(reshape(x, {-1, 1, 6, 1})), {-1, 6})); }
  Value training_step(const Batch& batch) override { return mean(square((*this)(batch["x"]) - 1)); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.1})}}; }

 private:
  RandomFlip flip_ = sub("flip", RandomFlip({.mode = "horizontal"}));
  Dense dense_ = sub("dense", Dense({.units = 2}));
};

// Counts the calls of prepare_data() of all ranks.
class Prepared : public DataModule {
 public:
  explicit Prepared(std::atomic<int>& calls) : calls_(calls) {}
  void prepare_data() override { ++calls_; }
  void setup(const std::string&) override {
    if (calls_ == 0) throw Error("setup before prepare_data");
  }
  DataLoader train_dataloader() override { return DataLoader(rank_data(24), {.batch_size = 4}); }

 private:
  std::atomic<int>& calls_;
};

// Layers of more weights than a bucket has.
class Large : public Module {
 public:
  Large() : Module("Large") {}
  Value call(const Value& x) override { return last_(tanh(second_(tanh(first_(x))))); }
  Value training_step(const Batch& batch) override { return mean(square((*this)(batch["x"]) - 1)); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }

 private:
  Dense first_ = sub("first", Dense({.units = 1100}));
  Dense second_ = sub("second", Dense({.units = 1100}));
  Dense last_ = sub("last", Dense({.units = 1100}));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_steps)

BOOST_AUTO_TEST_CASE(several_optimizers_several_updates_frozen_parts_and_noise) {
  for (const int ranks : {2, 3}) {
    const double difference = difference_by_ranks<TwoParts>(ranks, rank_trainer(), 53);
    BOOST_TEST(difference < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(random_images_are_those_of_the_sample) {
  const double difference = difference_by_ranks<Flipped>(3, rank_trainer(), 53);
  BOOST_TEST(difference < 1e-12);
}

BOOST_AUTO_TEST_CASE(prepare_data_runs_once_a_machine_and_before_setup) {
  std::atomic<int> calls{0};
  std::vector<double> weights(3);
  const auto errors = run_ranks(3, [&](const std::shared_ptr<Communicator>& own) {
    RankNet net = rank_net({}, own->rank());
    TrainerOptions options = rank_trainer();
    options.strategy = own;
    Prepared data(calls);
    Trainer(options).fit(net, data);
    weights[static_cast<std::size_t>(own->rank())] = net.get_weights()[0].to_doubles()[0];
  });
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
  BOOST_TEST(calls == 1);
  RankNet alone = rank_net({});
  Trainer(rank_trainer()).fit(alone, DataLoader(rank_data(24), {.batch_size = 12}));
  for (const double weight : weights) BOOST_TEST(std::abs(weight - alone.get_weights()[0].to_doubles()[0]) < 1e-12);
}

BOOST_AUTO_TEST_CASE(mixed_precision) {
  const double bfloat16 = difference_by_ranks<TwoParts>(2, rank_trainer({.precision = "mixed_bfloat16"}), 48);
  BOOST_TEST(bfloat16 < 2e-2);
  const double float16 = difference_by_ranks<TwoParts>(2, rank_trainer({.precision = "mixed_float16"}), 48);
  BOOST_TEST(float16 < 5e-3);
}

BOOST_AUTO_TEST_CASE(buckets_start_before_the_backward_pass_ends) {
  const TrainerOptions options = rank_trainer({.max_epochs = 1, .precision = "float32"});
  const double difference = difference_by_ranks<Large>(2, options, 24);
  BOOST_TEST(difference < 1e-5);
  std::vector<std::string> texts(2);
  run_ranks(2, [&](const std::shared_ptr<Communicator>& own) {
    weights_after<Large>(own, options, 24, &texts[static_cast<std::size_t>(own->rank())]);
  });
  const std::string& text = texts[0];
  const auto start = text.find("start_all_reduce"), finish = text.find("finish_all_reduce");
  BOOST_REQUIRE(start != std::string::npos);
  BOOST_REQUIRE(finish != std::string::npos);
  const auto products = [&](std::size_t begin, std::size_t end) {
    int count = 0;
    for (auto at = text.find("matmul", begin); at < end; at = text.find("matmul", at + 1)) ++count;
    return count;
  };
  BOOST_TEST(products(start, finish) > 0, text);
  BOOST_TEST(text.find("start_all_reduce", start + 1) < finish);
}

BOOST_AUTO_TEST_SUITE_END()
