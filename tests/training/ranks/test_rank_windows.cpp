// Accumulated gradients of several ranks: one reduction a window, skips, checkpoints in the middle of a window.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "support/folder.hpp"
#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Ranks = std::shared_ptr<Communicator>;

// Batches of 12 samples for all ranks, windows of 3.
RankRun window_run(RankNetOptions net = {}, TrainerOptions trainer = {}) {
  trainer.accumulate_grad_batches = 3;
  return {.net = std::move(net), .trainer = rank_trainer(std::move(trainer)), .loader = {.batch_size = 12}};
}

void check_against_one(const RankRun& run) {
  const RankResult one = run_of_rank(run, "single");
  for (const int ranks : {2, 3, 4}) {
    BOOST_TEST_CONTEXT(ranks << " ranks") {
      const double difference = difference_of(run_by_ranks(run, ranks), one);
      BOOST_TEST(difference < 1e-12);
    }
  }
}

// Notes the bytes that each training step has sent for its gradients.
class Sent : public Callback {
 public:
  explicit Sent(std::vector<std::size_t>& bytes) : bytes_(bytes) {}
  void on_train_batch_end(std::int64_t, Logs&) override {
    std::size_t sum = 0;
    for (const detail::Transfer& transfer : session().module().run_state()->transfers) sum += transfer.bytes;
    bytes_.push_back(sum);
  }

 private:
  std::vector<std::size_t>& bytes_;
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

// y = x with weight w, in float16: x of 3e4 overflows.
class Product : public Module {
 public:
  Product() : Module("Product") { build({1, 1}); }
  Value call(const Value& x) override { return line_(x); }
  Value training_step(const Batch& batch) override { return mean_squared_error(batch["y"], line_(batch["x"])); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }
  double weight() const { return weights()[0].value().item(); }

 private:
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
};

DataLoader product_data(const std::vector<double>& x, std::int64_t batch_size) {
  const auto count = static_cast<std::int64_t>(x.size());
  return DataLoader(Dataset::from_tensors({{"x", Tensor({count, 1}, x).cast(DType::float32)},
                                           {"y", Tensor({count, 1}, DType::float32), Role::target}}),
                    {.batch_size = batch_size});
}

void require_weights(const Module& net, const RankResult& expected) {
  for (std::size_t i = 0; i < expected.weights.size(); ++i) {
    const auto numbers = net.get_weights()[i].to_doubles();
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      if (!(std::abs(numbers[j] - expected.weights[i][j]) < 1e-12)) throw Error("weight " + std::to_string(i));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_windows)

// 53 = 4 * 12 + 5: a window of 3 and one of 2 steps, of which the last has 5 samples. 50, 49: ranks without samples at
// the end of a window.
BOOST_AUTO_TEST_CASE(uneven_windows_and_batches) {
  for (const std::int64_t samples : {53, 50, 49, 48}) {
    RankRun run = window_run({.dropout = 0.2, .l2 = 0.01}, {.gradient_clip_val = 0.05});
    run.samples = samples;
    run.loader.shuffle = true;
    check_against_one(run);
  }
}

// 37 = 3 * 12 + 1: the last batch of an epoch only adds to a window of the optimizer, and some ranks have no samples.
BOOST_AUTO_TEST_CASE(a_rank_without_samples_adds_nothing_to_the_window) {
  RankRun run = window_run();
  run.net.optimizer = [] { return Adam({.learning_rate = 0.01, .gradient_accumulation_steps = 3}); };
  run.trainer.accumulate_grad_batches = 1;
  run.samples = 37;
  check_against_one(run);
}

BOOST_AUTO_TEST_CASE(gradients_are_sent_once_a_window) {
  std::vector<std::vector<std::size_t>> bytes(2);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    RankRun run = window_run({}, {.max_epochs = 1});
    run.samples = 84;
    run.trainer.callbacks = {Sent(bytes[static_cast<std::size_t>(own->rank())])};
    run_of_rank(run, own);
  }));
  const std::size_t gradients = (6 * 8 + 8 + 8 * 3 + 3) * sizeof(double);
  BOOST_TEST_REQUIRE(bytes[0].size() == 7U);
  for (std::size_t step = 0; step < 7; ++step) {
    const bool completes = step % 3 == 2 || step == 6;  // the last window has one step
    BOOST_TEST((bytes[0][step] >= gradients) == completes, "step " << step << ": " << bytes[0][step]);
    BOOST_TEST((completes || bytes[0][step] <= 64U), "step " << step << ": " << bytes[0][step]);
  }
}

// A sample of rank 1 overflows in a step that only adds, then one of rank 0 in a step that completes a window.
BOOST_AUTO_TEST_CASE(skips_are_those_of_one_process) {
  const auto train = [](Strategy strategy, std::int64_t batch_size) {
    Product model;
    TrainerOptions options =
        rank_trainer({.max_epochs = 1, .accumulate_grad_batches = 2, .precision = "mixed_float16"});
    options.loss_scale = LossScaleOptions{.initial_scale = 1024};
    options.strategy = std::move(strategy);
    const std::vector<double> x{1, 3e4, 2, 1, 1, 2, 2, 2, 3e4, 1, 1, 1, 2, 1};
    const History history = Trainer(options).fit(model, product_data(x, batch_size));
    return std::vector<double>{model.weight(), history["skipped_steps"][0], history["loss_scale"][0]};
  };
  const std::vector<double> one = train("single", 2);
  BOOST_TEST(one[1] == 2);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    const std::vector<double> two = train(own, 1);
    if (std::abs(two[0] - one[0]) > 1e-5 || two[1] != one[1] || two[2] != one[2]) {
      throw Error(std::to_string(two[0]) + " " + std::to_string(two[1]) + " " + std::to_string(two[2]));
    }
  }));
}

// A window of 3 steps, saved after its first: by a callback during the fit, and after a fit that was stopped there.
BOOST_AUTO_TEST_CASE(checkpoints_in_the_middle_of_a_window_have_the_sum_of_all_ranks) {
  const Folder folder;
  const std::string during = folder.path("during.ckpt"), after = folder.path("after.ckpt");
  RankRun run = window_run({.optimizer = [] { return Adam({.learning_rate = 0.01}); }});
  run.samples = 60;
  const RankResult whole = run_of_rank(run, "single");
  const auto loader = [](std::int64_t ranks) { return DataLoader(rank_data(60), {.batch_size = 12 / ranks}); };
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    TrainerOptions options = run.trainer;
    options.strategy = own;
    options.callbacks = {SaveAt(0, 0, during)};
    RankNet net = rank_net(run.net, own->rank());
    Trainer(options).fit(net, loader(2));
    require_weights(net, whole);  // as if nothing had been saved
    options.callbacks = {StopAt(0)};
    RankNet stopped = rank_net(run.net, own->rank());
    Trainer(options).fit(stopped, loader(2));
    if (own->rank() == 0) Trainer::save_checkpoint(stopped, after);
  }));
  for (const std::string& path : {during, after}) {
    for (const int count : {1, 2, 3}) {
      require_no_errors(run_ranks(count, [&](const Ranks& own) {
        RankNet net = rank_net(run.net, own->rank());
        TrainerOptions options = run.trainer;
        options.strategy = own;
        Trainer(options).fit(net, loader(count), {}, {.ckpt_path = path});
        require_weights(net, whole);
      }));
    }
  }
}

BOOST_AUTO_TEST_CASE(only_callbacks_that_save_may_save_in_the_middle_of_a_window) {
  const Folder folder;
  const auto errors = run_ranks(2, [&](const Ranks& own) {
    RankNet net = rank_net({}, own->rank());
    TrainerOptions options = window_run().trainer;
    options.strategy = own;
    options.callbacks = {LambdaCallback({.on_train_batch_end = [&](std::int64_t, const Logs&) {
      if (own->rank() == 0) Trainer::save_checkpoint(net, folder.path("a.ckpt"));
    }})};
    Trainer(options).fit(net, DataLoader(rank_data(48), {.batch_size = 6}));
  });
  const std::string text = "[Trainer] save_checkpoint: in a fit of several ranks that divide optimizer states";
  BOOST_TEST(errors[0].find(text) == 0U, errors[0]);
  BOOST_TEST(errors[1].find("rank 0 has failed: " + text) != std::string::npos, errors[1]);
}

BOOST_AUTO_TEST_SUITE_END()
