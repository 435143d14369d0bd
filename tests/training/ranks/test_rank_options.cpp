// Options of a Trainer that differ between ranks: errors at all of them, before anything runs.
#include <boost/test/unit_test.hpp>

#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using OwnRanks = std::shared_ptr<Communicator>;

struct Difference {
  std::function<void(TrainerOptions&)> change;  // of rank 1
  std::string expected;
};

// Errors of a call(trainer, net) by two ranks, of which the second has other options.
template <class Call>
void check_difference(const Difference& difference, const Call& call) {
  const auto errors = run_ranks(2, [&](const OwnRanks& own) {
    TrainerOptions options = rank_trainer();
    if (own->rank() == 1) difference.change(options);
    options.strategy = own;
    RankNet net = rank_net({});
    call(Trainer(options), net);
  });
  for (const std::string& error : errors) {
    BOOST_TEST(error == "[Trainer] all ranks must run the same training; rank 1 has " + difference.expected);
  }
}

DataLoader loader() { return DataLoader(rank_data(16), {.batch_size = 4}); }

const std::vector<Difference>& differences() {
  static const std::vector<Difference> all{
      {[](auto& o) { o.max_epochs = 5; }, "max_epochs 5 where rank 0 has 3"},
      {[](auto& o) { o.max_steps = 7; }, "max_steps 7 where rank 0 has -1"},
      {[](auto& o) { o.max_time = "00:01:00:00"; }, "max_time 3600 s where rank 0 has not given"},
      {[](auto& o) { o.min_epochs = 2; }, "min_epochs 2 where rank 0 has 0"},
      {[](auto& o) { o.min_steps = 2; }, "min_steps 2 where rank 0 has -1"},
      {[](auto& o) { o.limit_train_batches = 1; }, "limit_train_batches 1 where rank 0 has 1.0"},
      {[](auto& o) { o.limit_val_batches = 0.5; }, "limit_val_batches 0.5 where rank 0 has 1.0"},
      {[](auto& o) { o.limit_test_batches = 3; }, "limit_test_batches 3 where rank 0 has 1.0"},
      {[](auto& o) { o.limit_predict_batches = 3; }, "limit_predict_batches 3 where rank 0 has 1.0"},
      {[](auto& o) { o.overfit_batches = 2; }, "overfit_batches 2 where rank 0 has 0"},
      {[](auto& o) { o.fast_dev_run = 2; }, "fast_dev_run 2 where rank 0 has 0"},
      {[](auto& o) { o.val_check_interval = 2; }, "val_check_interval 2 where rank 0 has 1.0"},
      {[](auto& o) { o.val_check_interval = 0.5; }, "val_check_interval 0.5 where rank 0 has 1.0"},
      {[](auto& o) { o.val_check_interval = std::chrono::minutes(2); },
       "val_check_interval 120 s where rank 0 has 1.0"},
      {[](auto& o) { o.check_val_every_n_epoch = 2; }, "check_val_every_n_epoch 2 where rank 0 has 1"},
      {[](auto& o) { o.num_sanity_val_steps = 0; }, "num_sanity_val_steps 0 where rank 0 has 2"},
      {[](auto& o) { o.accumulate_grad_batches = 2; }, "accumulate_grad_batches 2 where rank 0 has 1"},
      {[](auto& o) { o.gradient_clip_val = 0.5; }, "gradient_clip_val 0.5 where rank 0 has not given"},
      {[](auto& o) { o.shard_optimizer_states = true; }, "shard_optimizer_states true where rank 0 has false"},
      {[](auto& o) { o.gradient_compression = "bf16"; }, "gradient_compression \"bf16\" where rank 0 has \"\""},
      {[](auto& o) { o.sync_batchnorm = true; }, "sync_batchnorm true where rank 0 has false"},
      {[](auto& o) { o.precision = "bf16"; }, "precision \"mixed_bfloat16\" where rank 0 has \"float64\""},
      {[](auto& o) { o.log_every_n_steps = 5; }, "log_every_n_steps 5 where rank 0 has 50"},
      {[](auto& o) { o.deterministic = true; }, "deterministic true where rank 0 has false"},
      {[](auto& o) { o.detect_anomaly = true; }, "detect_anomaly true where rank 0 has false"},
      {[](auto& o) { o.barebones = true; }, "barebones true where rank 0 has false"},
      {[](auto& o) { o.loss_scale = {{.initial_scale = 128}}; },
       "loss_scale (dynamic true, initial_scale 128, growth_factor 2, backoff_factor 0.5, growth_interval 2000, floor "
       "1.52587890625e-05, cap 16777216) where rank 0 has not given"},
      {[](auto& o) { o.adaptive_threads = true; }, "adaptive_threads true where rank 0 has not given"},
      {[](auto& o) { o.float32_winograd = false; }, "float32_winograd false where rank 0 has not given"},
      {[](auto& o) { o.float32_matmul_precision = "high"; },
       "float32_matmul_precision high where rank 0 has not given"}};
  return all;
}

// A data module of the same data.
class OwnData : public DataModule {
 public:
  DataLoader train_dataloader() override { return loader(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_options)

BOOST_AUTO_TEST_CASE(each_difference_ends_fit) {
  for (const Difference& difference : differences()) {
    check_difference(difference, [](const Trainer& trainer, RankNet& net) { trainer.fit(net, loader(), loader()); });
  }
  check_difference({[](auto& o) { o.reload_dataloaders_every_n_epochs = 1; },
                    "reload_dataloaders_every_n_epochs 1 where rank 0 has 0"},
                   [](const Trainer& trainer, RankNet& net) {
                     OwnData data;
                     trainer.fit(net, data);
                   });
}

BOOST_AUTO_TEST_CASE(an_algorithm_of_clipping_may_differ_no_more_than_its_bound) {
  const auto errors = run_ranks(2, [&](const OwnRanks& own) {
    TrainerOptions options = rank_trainer();
    options.gradient_clip_val = 0.5;
    if (own->rank() == 1) options.gradient_clip_algorithm = "value";
    options.strategy = own;
    RankNet net = rank_net({});
    Trainer(options).fit(net, loader());
  });
  for (const std::string& error : errors) {
    BOOST_TEST(
        error ==
        "[Trainer] all ranks must run the same training; rank 1 has gradient_clip_algorithm \"value\" where rank "
        "0 has \"norm\"");
  }
}

BOOST_AUTO_TEST_CASE(a_difference_ends_validate_test_and_predict) {
  for (const Difference& difference : differences()) {
    check_difference(difference, [](const Trainer& trainer, RankNet& net) { trainer.validate(net, loader()); });
  }
  const Difference limit{[](auto& o) { o.limit_predict_batches = 1; }, "limit_predict_batches 1 where rank 0 has 1.0"};
  check_difference(limit, [](const Trainer& trainer, RankNet& net) { trainer.test(net, loader()); });
  check_difference(limit, [](const Trainer& trainer, RankNet& net) { trainer.predict(net, loader()); });
}

BOOST_AUTO_TEST_CASE(the_last_rank_and_the_first_difference_are_named) {
  const auto errors = run_ranks(3, [&](const OwnRanks& own) {
    TrainerOptions options = rank_trainer();
    if (own->rank() == 2) options.sync_batchnorm = options.shard_optimizer_states = true;
    options.strategy = own;
    RankNet net = rank_net({});
    Trainer(options).fit(net, loader());
  });
  for (const std::string& error : errors) {
    BOOST_TEST(error ==
               "[Trainer] all ranks must run the same training; rank 2 has shard_optimizer_states true where rank 0 "
               "has false");
  }
}

BOOST_AUTO_TEST_CASE(options_of_output_may_differ) {
  const auto errors = run_ranks(2, [&](const OwnRanks& own) {
    TrainerOptions options = rank_trainer({.max_epochs = 1});
    options.enable_model_summary = false;
    options.enable_checkpointing = own->rank() == 0 ? std::optional<bool>(false) : std::nullopt;
    options.default_root_dir = own->rank() == 0 ? "a" : "b";
    options.strategy = own;
    RankNet net = rank_net({});
    Trainer(options).fit(net, loader());
  });
  for (const std::string& error : errors) BOOST_TEST(error == "");
}

BOOST_AUTO_TEST_SUITE_END()
