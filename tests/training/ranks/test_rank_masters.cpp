// shard_optimizer_states under mixed_bfloat16: divided masters.
#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Ranks = std::shared_ptr<Communicator>;

Adam adam() { return Adam({.learning_rate = 0.01}); }

RankRun master_run(RankNetOptions net = {.optimizer = adam}) {
  RankRun run{.net = std::move(net),
              .trainer = rank_trainer({.shard_optimizer_states = true, .precision = "mixed_bfloat16"}),
              .loader = {.batch_size = 12}};
  run.samples = 53;
  run.validation_samples = 31;
  return run;
}

// The same training with the same numbers, but whole at each rank.
RankRun whole_run(RankRun run) {
  run.trainer.shard_optimizer_states = false;
  run.net.optimizer = [] { return Adam({.learning_rate = 0.01, .split_master_weights = true}); };
  return run;
}

// Calls a function after each step, with its number from 0.
class AfterSteps : public Callback {
 public:
  explicit AfterSteps(std::function<void(Module&, std::int64_t)> call) : call_(std::move(call)) {}
  void on_train_batch_end(std::int64_t, Logs&) override { call_(module(), step_++); }

 private:
  std::function<void(Module&, std::int64_t)> call_;
  std::int64_t step_ = 0;
};

std::vector<std::vector<double>> numbers_of(const Module& module) {
  std::vector<std::vector<double>> out;
  for (const Variable& weight : module.weights()) out.push_back(weight.value().to_doubles());
  return out;
}

// A net of two layers, some steps of which read the first kernel in float32.
class Reader : public Module {
 public:
  enum class When { never, training, validation, small_batches };
  explicit Reader(When when) : Module("Reader"), when_(when) {}
  Value call(const Value& x) override { return last_(first_(x)); }
  Value training_step(const Batch& batch) override {
    Value loss = mean(square((*this)(batch["x"]) - 1));
    const bool reads = when_ == When::training || (when_ == When::small_batches && batch.size() < 6);
    return reads ? loss + 0.01 * norm_of_kernel() : loss;
  }
  void validation_step(const Batch& batch) override {
    const Value loss = mean(square((*this)(batch["x"]) - 1));
    log("loss", when_ == When::validation ? loss + norm_of_kernel() : loss);
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = adam()}}; }

 private:
  Value norm_of_kernel() {
    const auto no_casts = disable_casts();
    return sum(square(first_.weights()[0]));
  }

  When when_;
  Dense first_ = sub("first", Dense({.units = 8}));
  Dense last_ = sub("last", Dense({.units = 2}));
};

std::vector<bool> divided_by_weight(Reader::When when) {
  std::vector<bool> out;
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    Reader module(when);
    TrainerOptions options = master_run().trainer;
    options.strategy = own;
    options.max_epochs = 1;
    options.callbacks = {AfterSteps([&](Module& inside, std::int64_t step) {
      for (const Variable& weight : inside.weights()) {
        if (own->rank() == 0 && step == 0) out.push_back(weight.state()->remainder != nullptr);
      }
    })};
    const DataLoader loader(rank_data(24), {.batch_size = 6});
    Trainer(options).fit(module, loader, loader);
  }));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_masters)

BOOST_AUTO_TEST_CASE(results_are_those_of_whole_masters) {
  for (const int ranks : {2, 3}) {
    for (const double l2 : {0.0, 0.01}) {
      const RankRun run = master_run({.optimizer = adam, .dropout = 0.2, .l2 = l2, .batch_norm = true});
      BOOST_TEST(difference_of(run_by_ranks(run, ranks), run_by_ranks(whole_run(run), ranks)) == 0);
    }
  }
  RankRun windows = master_run();
  windows.trainer.accumulate_grad_batches = 3;
  BOOST_TEST(difference_of(run_by_ranks(windows, 2), run_by_ranks(whole_run(windows), 2)) == 0);
}

// Kernels of 48 and 16 numbers; biases of 10, which products read in float32. Rank 0 has the master of the first
// kernel.
BOOST_AUTO_TEST_CASE(each_rank_has_the_masters_of_its_weights_until_the_end) {
  std::vector<std::vector<std::size_t>> bytes(2);
  std::vector<DType> storage;
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    Reader module(Reader::When::never);
    TrainerOptions options = master_run().trainer;
    options.strategy = own;
    options.callbacks = {AfterSteps([&](Module& inside, std::int64_t) {
      std::size_t sum = 0;
      for (const Variable& weight : inside.weights()) {
        const detail::VariableState& state = *weight.state();
        sum += state.value.bytes() + (state.remainder ? state.remainder->value.bytes() : 0);
      }
      bytes[static_cast<std::size_t>(own->rank())].push_back(sum);
    })};
    Trainer(options).fit(module, DataLoader(rank_data(24), {.batch_size = 6}));
    for (const Variable& weight : module.weights()) {
      if (own->rank() == 1) storage.push_back(weight.state()->value.dtype());
    }
  }));
  BOOST_TEST_REQUIRE(bytes[0].size() == 6U);
  for (const std::size_t step : bytes[0]) BOOST_TEST(step == 48U * 4 + 16 * 2 + 10 * 4);
  for (const std::size_t step : bytes[1]) BOOST_TEST(step == 48U * 2 + 16 * 4 + 10 * 4);
  BOOST_TEST((storage == std::vector<DType>(4, DType::float32)));
}

BOOST_AUTO_TEST_CASE(hooks_read_whole_weights) {
  std::vector<std::vector<std::vector<double>>> seen(2), expected(2);
  const auto watch = [](std::vector<std::vector<std::vector<double>>>& to, const RankRun& run) {
    require_no_errors(run_ranks(2, [&](const Ranks& own) {
      RankNet net = rank_net(run.net, own->rank());
      TrainerOptions options = run.trainer;
      options.strategy = own;
      options.callbacks = {AfterSteps([&](Module& module, std::int64_t) {
        const WholeWeights whole(module), nested(module);
        to[static_cast<std::size_t>(own->rank())] = numbers_of(module);
      })};
      Trainer(options).fit(net, DataLoader(rank_data(24), {.batch_size = 6}));
    }));
  };
  watch(seen, master_run());
  watch(expected, whole_run(master_run()));
  BOOST_TEST((seen == expected));
  BOOST_TEST((seen[0] == seen[1]));
  const auto errors = run_ranks(2, [&](const Ranks& own) {
    RankNet net = rank_net({.optimizer = adam}, own->rank());
    TrainerOptions options = master_run().trainer;
    options.strategy = own;
    options.callbacks = {AfterSteps([](Module& module, std::int64_t) { numbers_of(module); })};
    Trainer(options).fit(net, DataLoader(rank_data(24), {.batch_size = 6}));
  });
  const std::string expected_error =
      "[Variable \"kernel\"] must be whole to be read; got its bfloat16 part, since shard_optimizer_states gives the "
      "rest to another rank: make a WholeWeights at all ranks first";
  BOOST_TEST((errors[0] == expected_error || errors[1] == expected_error), errors[0] + "\n" + errors[1]);
}

BOOST_AUTO_TEST_CASE(steps_make_no_whole_weights) {
  class InStep : public Reader {
   public:
    InStep() : Reader(When::never) {}
    Value training_step(const Batch& batch) override {
      const WholeWeights whole(*this);
      return Reader::training_step(batch);
    }
  };
  const auto errors = run_ranks(2, [&](const Ranks& own) {
    InStep module;
    TrainerOptions options = master_run().trainer;
    options.strategy = own;
    Trainer(options).fit(module, DataLoader(rank_data(24), {.batch_size = 6}));
  });
  const std::string expected =
      "[WholeWeights] it must be made in a hook between two steps of fit; got a call elsewhere";
  BOOST_TEST((errors[0] == expected || errors[1] == expected), errors[0] + "\n" + errors[1]);
}

BOOST_AUTO_TEST_CASE(one_rank_divides_nothing) {
  RankRun run = master_run();
  int steps = 0;
  run.trainer.callbacks = {AfterSteps([&](Module& module, std::int64_t) {
    ++steps;
    for (const Variable& weight : module.weights()) BOOST_TEST(weight.state()->remainder == nullptr);
  })};
  run_by_ranks(run, 1);
  BOOST_TEST(steps == 15);
}

BOOST_AUTO_TEST_CASE(callbacks_read_whole_weights) {
  const std::vector<std::function<detail::CallbackHandle()>> callbacks{
      [] { return EMAWeightAveraging({.decay = 0.5}); },
      [] { return StochasticWeightAveraging({.swa_lrs = 0.02, .swa_epoch_start = 0.3, .annealing_epochs = 1}); },
      [] { return EarlyStopping({.monitor = "accuracy", .mode = "min", .restore_best_weights = true}); },
  };
  for (const auto& make : callbacks) {
    const auto train = [&](RankRun run) {
      std::vector<RankResult> results(2);
      require_no_errors(run_ranks(2, [&](const Ranks& own) {
        RankRun one = run;
        one.trainer.callbacks = {make()};
        results[static_cast<std::size_t>(own->rank())] = run_of_rank(one, own);
      }));
      BOOST_TEST(difference_of(results[0], results[1]) == 0);
      return results[0];
    };
    BOOST_TEST(difference_of(train(master_run()), train(whole_run(master_run()))) == 0);
  }
}

BOOST_AUTO_TEST_CASE(callbacks_of_rank_0_read_whole_weights) {
  const Folder folder;
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    RankRun run = master_run();
    run.trainer.callbacks = {TensorBoard(TensorBoardOptions{.log_dir = folder.path("logs"), .histogram_freq = 1})};
    run_of_rank(run, own);
  }));
}

BOOST_AUTO_TEST_CASE(checkpoints_hold_whole_masters) {
  const Folder folder;
  const std::string divided = folder.path("divided.ckpt"), whole = folder.path("whole.ckpt");
  const auto save = [&](RankRun run, const std::string& path) {
    run.trainer.callbacks = {SaveAt(1, 1, path)};
    return run_by_ranks(run, 2);
  };
  const RankResult result = save(master_run(), divided);
  BOOST_TEST(difference_of(result, save(whole_run(master_run()), whole)) == 0);
  check_same_checkpoints(divided, whole);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    const RankRun run = master_run();
    RankNet net = rank_net(run.net, own->rank());
    TrainerOptions options = run.trainer;
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(53), {.batch_size = 6}),
                         DataLoader(rank_data(31), {.batch_size = 6}), {.ckpt_path = divided});
    for (std::size_t i = 0; i < result.weights.size(); ++i) {
      if (net.get_weights()[i].to_doubles() != result.weights[i]) throw Error("weight " + std::to_string(i));
    }
  }));
}

// Kernel and bias of the first layer, then of the last.
BOOST_AUTO_TEST_CASE(weights_that_steps_read_in_float32_are_whole) {
  BOOST_TEST((divided_by_weight(Reader::When::small_batches) == std::vector<bool>{true, false, true, false}));
  BOOST_TEST((divided_by_weight(Reader::When::training) == std::vector<bool>{false, false, true, false}));
  BOOST_TEST((divided_by_weight(Reader::When::validation) == std::vector<bool>{false, false, true, false}));
}

BOOST_AUTO_TEST_CASE(steps_that_read_masters_of_other_ranks_are_errors) {
  const auto errors = run_ranks(2, [&](const Ranks& own) {
    Reader module(Reader::When::small_batches);
    TrainerOptions options = master_run().trainer;
    options.strategy = own;
    Trainer(options).fit(module, DataLoader(rank_data(16), {.batch_size = 6}));
  });
  const std::string expected =
      "[Trainer] steps with shard_optimizer_states must read \"kernel\" in bfloat16 alone, as the first training step; "
      "got one that reads its float32 numbers, which rank 0 has";
  BOOST_TEST(errors[1] == expected);
  BOOST_TEST(errors[0] == "[Communicator] rank 1 has failed: " + expected);
}

BOOST_AUTO_TEST_SUITE_END()
