// shard_optimizer_states: results, memory, checkpoints, errors.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "support/folder.hpp"
#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Ranks = std::shared_ptr<Communicator>;

Adam adam() { return Adam({.learning_rate = 0.01}); }

// Batches of 12 samples for all ranks.
RankRun shard_run(RankNetOptions net = {}, TrainerOptions trainer = {}) {
  trainer.shard_optimizer_states = true;
  RankRun run{.net = std::move(net), .trainer = rank_trainer(std::move(trainer)), .loader = {.batch_size = 12}};
  run.samples = 53;
  run.loader.shuffle = true;
  return run;
}

void check_against_one(const RankRun& run, double tolerance = 1e-12) {
  const RankResult one = run_of_rank(run, "single");
  for (const int ranks : {2, 3, 4}) {
    BOOST_TEST_CONTEXT(ranks << " ranks") {
      const double difference = difference_of(run_by_ranks(run, ranks), one);
      BOOST_TEST(difference < tolerance);
    }
  }
}

// Every bit is that of a training without shards by as many ranks.
void check_bits(RankRun run, int ranks) {
  BOOST_TEST_CONTEXT(ranks << " ranks") {
    const RankResult with = run_by_ranks(run, ranks);
    run.trainer.shard_optimizer_states = false;
    const double difference = difference_of(with, run_by_ranks(run, ranks));
    BOOST_TEST(difference == 0);
  }
}

std::int64_t bytes_of(const std::vector<Variable>& variables) {
  std::int64_t bytes = 0;
  for (const Variable& variable : variables) bytes += static_cast<std::int64_t>(variable.state()->value.bytes());
  return bytes;
}

// Notes the bytes of the optimizer states after each step.
class StateBytes : public Callback {
 public:
  explicit StateBytes(std::vector<std::int64_t>& bytes) : bytes_(bytes) {}
  void on_train_batch_end(std::int64_t, Logs&) override {
    bytes_.push_back(bytes_of(session().optimizers()[0].optimizer->variables()));
  }

 private:
  std::vector<std::int64_t>& bytes_;
};

// Reads its weights again after their update.
class Rereading : public Module {
 public:
  Rereading() : Module("Rereading") {}
  Value call(const Value& x) override { return line_(x); }
  Value training_step(const Batch& batch) override {
    minimize(mean(square(line_(batch["x"]) - 1)), optimizer(""));
    return mean(square(line_(batch["x"]) - 1));
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD()}}; }

 private:
  Dense line_ = sub("line", Dense({.units = 2}));
};

class Twice : public Rereading {
 public:
  Value training_step(const Batch& batch) override {
    for (int i = 0; i < 2; ++i) minimize(mean(square((*this)(batch["x"]) - 1)), optimizer(""));
    return mean(batch["x"]);
  }
};

template <class M>
std::string error_of(TrainerOptions options) {
  const auto errors = run_ranks(2, [&](const Ranks& own) {
    M module;
    TrainerOptions trainer = rank_trainer(options);
    trainer.strategy = own;
    trainer.shard_optimizer_states = true;
    Trainer(trainer).fit(module, DataLoader(rank_data(24), {.batch_size = 6}));
  });
  BOOST_TEST(!errors[1].empty());
  return errors[0];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_shards)

BOOST_AUTO_TEST_CASE(results_are_those_without_shards) {
  const std::vector<std::function<Any<Optimizer>()>> optimizers{
      [] { return SGD({.learning_rate = 0.2}); },
      [] { return SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}); },
      [] { return adam(); },
      [] { return Adam({.learning_rate = 0.01, .clipnorm = 0.01}); },
      [] { return AdamW({.learning_rate = 0.01, .clipvalue = 0.01}); },
      [] { return Lamb({.learning_rate = 0.01}); },
  };
  for (const auto& optimizer : optimizers) {
    const RankRun run = shard_run({.optimizer = optimizer, .dropout = 0.2, .l2 = 0.01});
    check_bits(run, 2);
    check_bits(run, 3);
  }
  check_against_one(shard_run({.optimizer = adam}));
}

// Weights: 6 x 8, 8, 8 x 3 and 3 numbers. Ranks 4 and 5 of 6 have none.
BOOST_AUTO_TEST_CASE(more_ranks_than_weights) {
  RankRun run = shard_run({.optimizer = adam});
  check_bits(run, 6);
  run.trainer.gradient_clip_val = 0.05;
  const double difference = difference_of(run_by_ranks(run, 6), run_of_rank(run, "single"));
  BOOST_TEST(difference < 1e-12);
}

BOOST_AUTO_TEST_CASE(clipping_accumulation_and_validation) {
  RankRun run = shard_run({.optimizer = adam}, {.gradient_clip_val = 0.05});
  run.validation_samples = 31;
  check_against_one(run);
  run.trainer.accumulate_grad_batches = 3;
  check_against_one(run);
  check_against_one(shard_run({}, {.gradient_clip_val = 0.01, .gradient_clip_algorithm = "value"}));
  check_against_one(shard_run({.optimizer = [] { return SGD({.learning_rate = 0.2, .global_clipnorm = 0.05}); }}));
}

BOOST_AUTO_TEST_CASE(mixed_precision) {
  const auto split = [] { return Adam({.learning_rate = 0.01, .split_master_weights = true}); };
  check_bits(shard_run({.optimizer = split}, {.precision = "mixed_bfloat16"}), 2);
  check_bits(shard_run({.optimizer = adam}, {.precision = "mixed_float16"}), 3);
}

// The first kernel has 6144 elements, whose states are in 8 bits.
BOOST_AUTO_TEST_CASE(states_in_8_bits) {
  const auto coded = [] { return Adam({.learning_rate = 0.01, .state_dtype = "int8"}); };
  const RankRun run = shard_run({.optimizer = coded, .units = 1024}, {.precision = "float32"});
  check_bits(run, 2);
  check_bits(run, 3);
}

// Numbers of 8 bytes, two slots: the kernel of 48 at rank 0, the other 35 at rank 1.
BOOST_AUTO_TEST_CASE(each_rank_has_the_states_of_its_weights_until_the_end) {
  std::vector<std::vector<std::int64_t>> bytes(2);
  std::vector<std::int64_t> after(2);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    const auto rank = static_cast<std::size_t>(own->rank());
    RankNet net = rank_net({.optimizer = adam}, own->rank());
    const Any<Optimizer> optimizer = adam();
    TrainerOptions options = shard_run().trainer;
    options.callbacks = {StateBytes(bytes[rank])};
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(24), {.batch_size = 6}));
  }));
  for (const std::int64_t step : bytes[0]) BOOST_TEST(step == 2 * 48 * 8);
  for (const std::int64_t step : bytes[1]) BOOST_TEST(step == 2 * 35 * 8);
  BOOST_TEST(bytes[0].size() == 6U);
}

// Saved by 4 ranks in the second epoch; resumed by 4 to the same bits, by 2 and 1 to the same numbers but for rounding.
BOOST_AUTO_TEST_CASE(checkpoints_are_those_of_one_process) {
  const Folder folder;
  const std::string shards = folder.path("shards.ckpt"), whole = folder.path("whole.ckpt");
  RankRun run = shard_run({.optimizer = adam, .dropout = 0.2});
  const auto save = [&](bool divided) {
    RankRun saving = run;
    saving.trainer.shard_optimizer_states = divided;
    saving.trainer.callbacks = {SaveAt(1, 1, divided ? shards : whole)};
    return run_by_ranks(saving, 4);
  };
  const RankResult result = save(true);
  BOOST_TEST(difference_of(save(false), result) == 0);
  check_same_checkpoints(shards, whole);
  for (const int count : {1, 2, 4}) {
    for (const bool divided : {false, true}) {
      require_no_errors(run_ranks(count, [&](const Ranks& own) {
        RankNet net = rank_net(run.net, own->rank());
        TrainerOptions options = run.trainer;
        options.shard_optimizer_states = divided;
        options.strategy = own;
        const DataLoader loader(rank_data(53), {.batch_size = 12 / count, .shuffle = true});
        Trainer(options).fit(net, loader, {}, {.ckpt_path = shards});
        for (std::size_t i = 0; i < result.weights.size(); ++i) {
          const auto numbers = net.get_weights()[i].to_doubles();
          for (std::size_t j = 0; j < numbers.size(); ++j) {
            const double difference = std::abs(numbers[j] - result.weights[i][j]);
            if (!(count == 4 ? difference == 0 : difference < 1e-12)) throw Error("weight " + std::to_string(i));
          }
        }
      }));
    }
  }
}

// Kahan compensations are states; a checkpoint of weights alone includes them, too.
BOOST_AUTO_TEST_CASE(checkpoints_after_the_fit_and_of_kahan_sums) {
  const Folder folder;
  const auto train = [&](bool divided, const std::string& path) {
    require_no_errors(run_ranks(3, [&](const Ranks& own) {
      RankNet net =
          rank_net({.optimizer = [] { return Adam({.learning_rate = 0.01, .kahan_summation = true}); }}, own->rank());
      TrainerOptions options = rank_trainer({.shard_optimizer_states = divided, .precision = "bf16-true"});
      options.strategy = own;
      Trainer(options).fit(net, DataLoader(rank_data(24, DType::float32), {.batch_size = 4}));
      if (own->rank() == 1) Trainer::save_checkpoint(net, path);
    }));
  };
  train(true, folder.path("a.ckpt"));
  train(false, folder.path("b.ckpt"));
  check_same_checkpoints(folder.path("a.ckpt"), folder.path("b.ckpt"));
}

BOOST_AUTO_TEST_CASE(steps_that_need_the_weights_of_other_ranks_are_errors) {
  BOOST_TEST(error_of<Rereading>({}).find("[Trainer] steps with shard_optimizer_states must not read weights after") ==
             0U);
  BOOST_TEST(error_of<Twice>({}).find("[Trainer] minimize() must be called once per step with") == 0U);
  const auto errors = run_ranks(2, [&](const Ranks& own) {
    RankRun run = shard_run({.optimizer = [] { return SGD({.use_ema = true}); }});
    run_of_rank(run, own);
  });
  BOOST_TEST(errors[0].find("[Trainer] shard_optimizer_states needs optimizers without use_ema") == 0U, errors[0]);
}

BOOST_AUTO_TEST_SUITE_END()
