// Reports of trainings of several ranks: skips, checkpoints, metrics of batches.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <mutex>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Ranks = std::shared_ptr<Communicator>;

// y = 4 w x in float16, by two layers: x of 3e4 overflows in the second one.
class Pair : public Module {
 public:
  Pair() : Module("Pair") { build({1, 1}); }
  Value call(const Value& x) override { return gain_(first_(x)); }
  Value training_step(const Batch& batch) override {
    const Value y = (*this)(batch["x"]);
    hits_.update_state(batch["y"], y);
    log("largest_y", hits_, {.on_step = true});
    return mean_squared_error(batch["y"], y) * 1e-6;
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 1e-3})}}; }

 private:
  Dense first_ = sub("first", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
  Scale gain_ = sub("gain", Scale({.initial = 4}));
  MeanMetricWrapper hits_{[](const Value& y, const Value&) { return reshape(y, {-1}); }};
};

DataLoader numbers(const std::vector<double>& x, const std::vector<double>& y, std::int64_t batch_size) {
  const auto count = static_cast<std::int64_t>(x.size());
  return DataLoader(Dataset::from_tensors({{"x", Tensor({count, 1}, x).cast(DType::float32)},
                                           {"y", Tensor({count, 1}, y).cast(DType::float32), Role::target}}),
                    {.batch_size = batch_size});
}

class Received : public Logger {
 public:
  explicit Received(std::vector<double>* to) : to_(to) {}
  void log_metrics(const Logs& metrics, std::int64_t) override {
    if (metrics.contains("largest_y")) to_->push_back(metrics["largest_y"]);
  }

 private:
  std::vector<double>* to_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_reports)

// The sample that overflows belongs to rank 0, or to rank 1.
BOOST_AUTO_TEST_CASE(a_skip_is_told_once_with_the_layer_of_the_rank_that_overflowed) {
  for (const std::vector<double>& x : {std::vector<double>{1, 2, 3e4, 1, 2, 1}, {1, 2, 1, 3e4, 2, 1}}) {
    const CapturedOutput output;
    require_no_errors(run_ranks(2, [&](const Ranks& own) {
      Pair model;
      TrainerOptions options = rank_trainer({.max_epochs = 1, .precision = "mixed_float16"});
      options.loss_scale = LossScaleOptions{.initial_scale = 64};
      options.strategy = own;
      Trainer(options).fit(model, numbers(x, std::vector<double>(6, 0), 1));
    }));
    BOOST_TEST(
        output.text() ==
        "mezzo: warning: [Trainer] step 1 was skipped: \"gain\" multiply gave the first value that is not finite "
        "(float16); loss scale 64 -> 32\n");
  }
}

// In the backward pass of 400 the cotangent of the input of gain overflows. Ranks that divide optimizer states or
// accumulate gradients exchange flags then, no numbers that aren't finite.
BOOST_AUTO_TEST_CASE(the_layer_is_named_in_all_ways_of_reduction) {
  std::vector<TrainerOptions> ways(4, TrainerOptions{.max_epochs = 1, .precision = "mixed_float16"});
  ways[1].shard_optimizer_states = true;
  ways[2].accumulate_grad_batches = 2;
  ways[3].gradient_compression = "bf16";
  for (const TrainerOptions& way : ways) {
    for (const std::vector<double>& x : {std::vector<double>{1, 400, 1, 2, 2, 1}, {400, 1, 1, 2, 2, 1}}) {
      const CapturedOutput output;
      require_no_errors(run_ranks(2, [&](const Ranks& own) {
        Pair model;
        TrainerOptions options = rank_trainer(way);
        options.loss_scale = LossScaleOptions{.initial_scale = 0x1p23};
        options.strategy = own;
        Trainer(options).fit(model, numbers(x, std::vector<double>(6, 0), 1));
      }));
      BOOST_TEST(output.text() ==
                 "mezzo: warning: [Trainer] step 0 was skipped: \"gain\" multiply in the backward pass gave the first "
                 "value that is not finite (float16); loss scale 8388608 -> 4194304\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(checkpoint_callbacks_have_the_paths_of_rank_0_everywhere) {
  const Folder folder;
  std::vector<std::vector<std::string>> texts(2);
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    ModelCheckpoint best(
        {.dirpath = folder.path("best"), .filename = "{epoch}", .monitor = "loss", .save_last = true, .save_top_k = 2});
    ModelCheckpoint keras(folder.path("keras/{epoch}.ckpt"), {.monitor = "loss", .save_best_only = true});
    std::vector<std::string>& own_texts = texts[static_cast<std::size_t>(own->rank())];
    for (int fit = 0; fit < 2; ++fit) {
      RankNet net = rank_net({}, own->rank());
      TrainerOptions options = rank_trainer({.max_epochs = 2 + fit, .callbacks = {best, keras}});
      options.strategy = own;
      Trainer(options).fit(net, DataLoader(rank_data(48), {.batch_size = 12}));
      own_texts.insert(own_texts.end(), {best.best_model_path(), best.last_model_path(), best.kth_best_model_path(),
                                         best.last_path(), keras.last_path(), keras.best_checkpoint(),
                                         fmt::format("{}", *best.best()), fmt::format("{}", *keras.best())});
      for (const auto& [path, score] : best.best_k_models()) own_texts.push_back(fmt::format("{} {}", path, score));
    }
  }));
  BOOST_TEST(texts[0] == texts[1], boost::test_tools::per_element());
  BOOST_TEST(texts[0].front() == folder.path("best/epoch=1.ckpt"));
}

BOOST_AUTO_TEST_CASE(metrics_of_batches_are_those_of_all_ranks) {
  std::vector<double> logged;
  require_no_errors(run_ranks(2, [&](const Ranks& own) {
    Pair model;
    TrainerOptions options = rank_trainer({.max_epochs = 1, .precision = 32});
    options.logger = {Received(&logged)};
    options.log_every_n_steps = 1;
    options.strategy = own;
    Trainer(options).fit(model, numbers({1, 1, 1, 1, 1, 1}, {5, 7, 1, 3, 2, 2}, 1));
  }));
  BOOST_TEST(logged == (std::vector<double>{6, 2, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
