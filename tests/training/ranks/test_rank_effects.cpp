// What ranks share beside gradients: moving statistics, skips, stops, files, checkpoints, evaluations.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "support/folder.hpp"
#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Ranks = std::shared_ptr<Communicator>;

// Samples of which each occurs twice, so that two ranks have equal batches.
Dataset doubled_data(std::int64_t pairs) {
  std::vector<double> x;
  Tensor y({2 * pairs}, DType::int64);
  const std::vector<double> numbers = spread_numbers(pairs * 6, 0.1);
  for (std::int64_t batch = 0; batch < pairs / 4; ++batch) {  // 4 samples, then the same 4
    for (std::int64_t i = 0; i < 8; ++i) {
      const std::int64_t sample = batch * 4 + i % 4;
      x.insert(x.end(), numbers.begin() + sample * 6, numbers.begin() + sample * 6 + 6);
      y.mutable_data<std::int64_t>()[batch * 8 + i] = sample % 3;
    }
  }
  return Dataset::from_tensors({{"x", Tensor({2 * pairs, 6}, x)}, {"y", y, Role::target}});
}

// y = w x with w = 1, in float16: x of 3e4 overflows.
class Line : public Module {
 public:
  Line() : Module("Line") { build({1, 1}); }
  Value call(const Value& x) override { return line_(x); }
  Value training_step(const Batch& batch) override { return mean_squared_error(batch["y"], line_(batch["x"])); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }
  double weight() const { return weights()[0].value().item(); }

 private:
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
};

DataLoader line_data(const std::vector<double>& x, std::int64_t batch_size) {
  const auto count = static_cast<std::int64_t>(x.size());
  return DataLoader(Dataset::from_tensors({{"x", Tensor({count, 1}, x).cast(DType::float32)},
                                           {"y", Tensor({count, 1}, DType::float32), Role::target}}),
                    {.batch_size = batch_size});
}

class Counting : public Callback {
 public:
  Counting(int& batches, bool all) : batches_(batches), all_(all) {}
  void on_train_batch_end(std::int64_t, Logs&) override { ++batches_; }
  bool on_all_ranks() const override { return all_; }

 private:
  int& batches_;
  bool all_;
};

// Counts validations, and slows the steps of one rank down.
class Validations : public Callback {
 public:
  Validations(int& count, bool slow) : count_(count), slow_(slow) {}
  void on_train_batch_end(std::int64_t, Logs&) override {
    if (slow_) std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  void on_test_begin(Logs&) override { ++count_; }
  bool on_all_ranks() const override { return true; }

 private:
  int& count_;
  bool slow_;
};

class StopAt : public Callback {
 public:
  explicit StopAt(std::int64_t batch) : batch_(batch) {}
  void on_train_batch_end(std::int64_t batch, Logs&) override {
    if (batch == batch_) session().stop();
  }

 private:
  std::int64_t batch_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_effects)

// Statistics are those of each rank's samples, and their moving means those of all: equal here by the data.
BOOST_AUTO_TEST_CASE(batch_norm_of_equal_batches_and_mean_moving_statistics) {
  const auto train = [](Strategy strategy, std::int64_t batch_size) {
    const auto ranks = strategy.communicator();
    RankNet net = rank_net({.batch_norm = true}, 0);
    TrainerOptions options = rank_trainer();
    options.strategy = std::move(strategy);
    Trainer(options).fit(net, DataLoader(doubled_data(16), {.batch_size = batch_size}));
    std::vector<double> out;
    for (const Tensor& weight : net.get_weights()) {
      const auto numbers = weight.to_doubles();
      out.insert(out.end(), numbers.begin(), numbers.end());
    }
    return out;
  };
  const std::vector<double> one = train("single", 8);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    const std::vector<double> two = train(own, 4);
    for (std::size_t i = 0; i < one.size(); ++i) {
      if (!(std::abs(one[i] - two[i]) < 1e-12)) throw Error("weight " + std::to_string(i));
    }
  }));
}

BOOST_AUTO_TEST_CASE(moving_statistics_are_means_over_the_ranks) {
  std::vector<std::vector<double>> means(2);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    RankNet net = rank_net({.batch_norm = true}, 0);
    TrainerOptions options = rank_trainer({.max_epochs = 1});
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(16), {.batch_size = 4}));
    for (const auto& [path, weight] : net.named_weights()) {
      if (path.find("moving") == std::string::npos) continue;
      const auto numbers = weight.value().to_doubles();
      auto& to = means[static_cast<std::size_t>(own->rank())];
      to.insert(to.end(), numbers.begin(), numbers.end());
    }
  }));
  BOOST_TEST(means[0].size() == 16);
  BOOST_TEST(means[0] == means[1], boost::test_tools::per_element());
}

// Only the sample of rank 1 overflows: the step is skipped by both.
BOOST_AUTO_TEST_CASE(a_step_that_overflows_at_one_rank_is_skipped_by_all) {
  const auto train = [](Strategy strategy, std::int64_t batch_size) {
    Line model;
    TrainerOptions options = rank_trainer({.max_epochs = 1, .precision = "mixed_float16"});
    options.loss_scale = LossScaleOptions{.initial_scale = 1024};
    options.strategy = std::move(strategy);
    const History history = Trainer(options).fit(model, line_data({1, 2, 1, 3e4, 2, 1}, batch_size));
    return std::vector<double>{model.weight(), history["skipped_steps"][0], history["loss_scale"][0]};
  };
  const std::vector<double> one = train("single", 2);
  BOOST_TEST(one[1] == 1);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    const std::vector<double> two = train(own, 1);
    if (std::abs(two[0] - one[0]) > 1e-5 || two[1] != one[1] || two[2] != one[2]) {
      throw Error(std::to_string(two[0]) + " " + std::to_string(two[1]) + " " + std::to_string(two[2]));
    }
  }));
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_at_one_rank_ends_all) {
  std::vector<double> weights(2);
  const auto errors = run_ranks(2, [&](const Ranks& own) {
    Line model;
    TrainerOptions options = rank_trainer({.max_epochs = 1, .precision = "float32"});
    options.strategy = own;
    const double infinity = std::numeric_limits<double>::infinity();
    try {
      Trainer(options).fit(model, line_data({1, infinity}, 1));
    } catch (const Error&) {
      weights[static_cast<std::size_t>(own->rank())] = model.weight();
      throw;
    }
  });
  for (const std::string& error : errors) {
    BOOST_TEST(error.find("[Trainer] the loss must be finite; got NaN or infinity") == 0U, error);
  }
  BOOST_TEST(weights == std::vector<double>(2, 1.0), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_stop_by_one_rank_stops_all_after_the_same_step) {
  std::vector<int> batches(3);
  require_no_errors(run_ranks(3, [&](const Ranks& own) {
    RankNet net = rank_net({}, own->rank());
    TrainerOptions options = rank_trainer({.max_epochs = 9});
    options.callbacks = {Counting(batches[static_cast<std::size_t>(own->rank())], true)};
    if (own->rank() == 2) options.callbacks.emplace_back(StopAt(1));
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(36), {.batch_size = 4}));
  }));
  BOOST_TEST(batches == std::vector<int>(3, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(max_time_of_rank_0_ends_all) {
  std::vector<int> batches(2);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    RankNet net = rank_net({}, own->rank());
    TrainerOptions options = rank_trainer({.max_epochs = -1, .max_time = detail::Duration(0.3)});
    options.callbacks = {Counting(batches[static_cast<std::size_t>(own->rank())], true)};
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(36), {.batch_size = 4}));
  }));
  BOOST_TEST(batches[0] == batches[1]);
}

// Rank 0 waits for the slow rank 1, so that 9 steps take more than a second of its time.
BOOST_AUTO_TEST_CASE(validations_by_time_are_those_of_rank_0) {
  std::vector<int> validations(2);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    RankNet net = rank_net({}, own->rank());
    TrainerOptions options = rank_trainer({.max_epochs = 1, .val_check_interval = "00:00:00:01"});
    options.num_sanity_val_steps = 0;
    options.callbacks = {Validations(validations[static_cast<std::size_t>(own->rank())], own->rank() == 1)};
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(72), {.batch_size = 4}),
                         DataLoader(rank_data(8), {.batch_size = 4}));
  }));
  BOOST_TEST(validations[0] > 0);
  BOOST_TEST(validations[0] == validations[1]);
}

BOOST_AUTO_TEST_CASE(files_and_hooks_of_rank_0) {
  const Folder folder;
  std::vector<int> batches(2);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    const std::string own_folder = folder.path(std::to_string(own->rank()));
    RankNet net = rank_net({}, own->rank());
    TrainerOptions options = rank_trainer({.max_epochs = 2});
    options.callbacks = {Counting(batches[static_cast<std::size_t>(own->rank())], false),
                         ModelCheckpoint({.dirpath = own_folder, .save_top_k = -1})};
    options.logger = {loggers::CSVLogger(own_folder)};
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(36), {.batch_size = 4}));
  }));
  BOOST_TEST(std::filesystem::exists(folder.path("0")));
  BOOST_TEST(!std::filesystem::exists(folder.path("1")));
  BOOST_TEST(batches[0] == 10);
  BOOST_TEST(batches[1] == 0);
}

// A checkpoint is that of one process: saved by 2 ranks in the middle of an epoch, resumed by 1, 2 and 3.
BOOST_AUTO_TEST_CASE(checkpoints_are_resumed_by_another_number_of_ranks) {
  const Folder folder;
  const std::string path = folder.path("two.ckpt");
  RankRun run{.net = {.optimizer = [] { return Adam({.learning_rate = 0.01}); }, .dropout = 0.2},
              .trainer = rank_trainer(),
              .loader = {.batch_size = 12, .shuffle = true},
              .samples = 53};
  const RankResult whole = run_of_rank(run, "single");
  RankRun first = run;
  first.trainer.max_steps = 7;  // of 5 an epoch
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    RankNet net = rank_net(first.net, own->rank());
    TrainerOptions options = first.trainer;
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(53), {.batch_size = 6, .shuffle = true}));
    if (own->rank() == 0) Trainer::save_checkpoint(net, path);
  }));
  for (const int count : {1, 2, 3}) {
    require_no_errors(run_ranks(count, [&](const Ranks& own) {
      RankNet net = rank_net(run.net, own->rank());
      TrainerOptions options = run.trainer;
      options.strategy = own;
      const DataLoader loader(rank_data(53), {.batch_size = 12 / count, .shuffle = true});
      Trainer(options).fit(net, loader, {}, {.ckpt_path = path});
      for (std::size_t i = 0; i < whole.weights.size(); ++i) {
        const auto numbers = net.get_weights()[i].to_doubles();
        for (std::size_t j = 0; j < numbers.size(); ++j) {
          if (!(std::abs(numbers[j] - whole.weights[i][j]) < 1e-12)) throw Error("weight " + std::to_string(i));
        }
      }
    }));
  }
}

BOOST_AUTO_TEST_CASE(evaluations_by_all_ranks_and_predictions_at_each) {
  RankNet alone = rank_net({});
  const Trainer single(rank_trainer());
  const DataLoader joined(rank_data(31), {.batch_size = 12});
  const Logs expected = single.validate(alone, joined), tested = single.test(alone, joined);
  const std::vector<double> predicted = single.predict(alone, joined).to_doubles();
  require_no_errors(run_ranks(3, [&](const Ranks& own) {
    RankNet net = rank_net({}, own->rank());
    TrainerOptions options = rank_trainer();
    options.strategy = own;
    const Trainer trainer(options);
    const DataLoader loader(rank_data(31), {.batch_size = 4});
    const Logs logs = trainer.validate(net, loader), test = trainer.test(net, loader);
    for (const char* name : {"loss", "accuracy", "score"}) {
      if (!(std::abs(logs[name] - expected[name]) < 1e-12)) throw Error(name);
      if (!(std::abs(test[name] - tested[name]) < 1e-12)) throw Error(name);
    }
    if (trainer.predict(net, loader).to_doubles() != predicted) throw Error("predictions");
  }));
}

BOOST_AUTO_TEST_SUITE_END()
