// Errors of ranks: what fails at one ends all, with its name and the difference.
#include <boost/test/unit_test.hpp>

#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using OwnRanks = std::shared_ptr<Communicator>;
using ErrorTexts = std::vector<std::string>;

// A fit of 36 samples by 3 ranks, changed by a function of the rank.
struct OwnFit {
  RankNetOptions net{};
  TrainerOptions trainer = rank_trainer();
  DataLoaderOptions loader{.batch_size = 4};
  std::int64_t samples = 36;
};

ErrorTexts fit_by_three(const std::function<void(OwnFit& fit, int rank)>& change) {
  return run_ranks(3, [&](const OwnRanks& own) {
    OwnFit fit;
    change(fit, own->rank());
    RankNet net = rank_net(fit.net, own->rank());
    fit.trainer.strategy = own;
    Trainer(fit.trainer).fit(net, DataLoader(rank_data(fit.samples), fit.loader));
  });
}

void check_all(const ErrorTexts& errors, const std::string& expected) {
  for (const std::string& error : errors) BOOST_TEST(error == expected);
}

class ThrowAt : public Callback {
 public:
  explicit ThrowAt(std::int64_t batch) : batch_(batch) {}
  void on_train_batch_begin(std::int64_t batch, Logs&) override {
    if (batch == batch_) throw FileError("the disk is full");
  }

 private:
  std::int64_t batch_;
};

// The largest number so far: no sum over samples.
class Largest : public Metric {
 public:
  Largest() : Metric("largest") { add_state(most_, {}); }
  Value result() const override { return most_; }

 protected:
  void update(const Value&, const Value& y_pred, const Value&) override {
    assign(most_, maximum(most_, max(cast(y_pred, DType::float64))));
  }

 private:
  Variable most_{"most"};
};

class WithLargest : public Module {
 public:
  WithLargest() : Module("WithLargest") {}
  Value training_step(const Batch& batch) override {
    const Value scores = dense_(batch["x"]);
    largest_.update_state(scores, scores);
    log("largest", largest_);
    return mean(square(scores));
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD()}}; }

 private:
  Dense dense_ = sub("dense", Dense({.units = 2}));
  Largest largest_;
};

template <class M>
ErrorTexts fit_module_by_two() {
  return run_ranks(2, [&](const OwnRanks& own) {
    M module;
    TrainerOptions options = rank_trainer();
    options.strategy = own;
    Trainer(options).fit(module, DataLoader(rank_data(16), {.batch_size = 4}));
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_failures)

BOOST_AUTO_TEST_CASE(an_exception_of_one_rank_ends_all) {
  const ErrorTexts errors = fit_by_three([](OwnFit& fit, int rank) {
    if (rank == 1) fit.trainer.callbacks = {ThrowAt(2)};
  });
  BOOST_TEST(errors[1] == "the disk is full");
  BOOST_TEST(errors[0] == "[Communicator] rank 1 has failed: the disk is full");
  BOOST_TEST(errors[2] == "[Communicator] rank 1 has failed: the disk is full");
}

BOOST_AUTO_TEST_CASE(differences_of_models_data_and_optimizers_are_named) {
  const std::string same = "[Trainer] all ranks must run the same training; ";
  check_all(
      fit_by_three([](OwnFit& fit, int rank) { fit.net.batch_norm = rank == 2; }),
      same + "rank 2 has weight \"norm/gamma\" float32 (8,) where rank 0 has weight \"last/kernel\" float32 (8, 3)");
  check_all(fit_by_three([](OwnFit& fit, int rank) { fit.samples = rank == 1 ? 48 : 36; }),
            same +
                "rank 1 has training data: 4 batches of 12 samples for all ranks, 48 samples, drop_last false, "
                "fields x float64 (6,), y int64 (), SequentialSampler(48) where rank 0 has training data: 3 batches "
                "of 12 samples for all ranks, 36 samples, drop_last false, fields x float64 (6,), y int64 (), "
                "SequentialSampler(36)");
  check_all(fit_by_three([](OwnFit& fit, int rank) {
              if (rank == 1) fit.net.optimizer = [] { return SGD({.learning_rate = 0.5}); };
            }),
            same + "rank 1 has optimizer \"\" learning_rate 0.5 where rank 0 has 0.2");
  check_all(fit_by_three([](OwnFit& fit, int rank) {
              if (rank == 2) fit.net.optimizer = [] { return SGD({.learning_rate = 0.2, .clipnorm = 1.5}); };
            }),
            same + "rank 2 has optimizer \"\" clipnorm 1.5 where rank 0 has 0");
  check_all(fit_by_three([](OwnFit& fit, int rank) {
              if (rank == 2) fit.net.optimizer = [] { return Adam({.learning_rate = 0.2}); };
            }),
            same + "rank 2 has optimizer \"\" Adam, 0 updates where rank 0 has optimizer \"\" SGD, 0 updates");
}

BOOST_AUTO_TEST_CASE(a_rank_that_does_not_train_ends_the_others) {
  const ErrorTexts errors = run_ranks(2, [&](const OwnRanks& own) {
    if (own->rank() == 1) return;
    RankNet net = rank_net({});
    TrainerOptions options = rank_trainer();
    options.strategy = own;
    Trainer(options).fit(net, DataLoader(rank_data(16), {.batch_size = 4}));
  });
  BOOST_TEST(errors[0] == "[Communicator] rank 1 has left while rank 0 waited for it");
}

BOOST_AUTO_TEST_CASE(what_several_ranks_cannot_do_is_an_error) {
  const auto refused_option = [](const std::function<void(TrainerOptions&)>& change) {
    return fit_by_three([&](OwnFit& fit, int) { change(fit.trainer); });
  };
  const std::string start = "[Trainer] a training of several ranks can't have ", end = "; got it with 3 ranks";
  check_all(refused_option([](TrainerOptions& options) { options.precision = "auto"; }),
            start + "precision \"auto\"" + end);
  check_all(refused_option([](TrainerOptions& options) { options.eager = true; }), start + "eager" + end);
  check_all(refused_option([](TrainerOptions& options) { options.callbacks = {BatchSizeFinder()}; }),
            start + "a BatchSizeFinder" + end);
  check_all(refused_option([](TrainerOptions& options) { options.callbacks = {LearningRateFinder()}; }),
            start + "a LearningRateFinder" + end);
  check_all(refused_option([](TrainerOptions& options) { options.callbacks = {BackupAndRestore("x.ckpt")}; }),
            start + "a BackupAndRestore" + end);
}

BOOST_AUTO_TEST_CASE(data_that_cannot_be_divided_are_errors) {
  check_all(fit_by_three([](OwnFit& fit, int rank) {
              fit.loader.sampler =
                  DistributedSampler(rank_data(36), {.num_replicas = 3, .rank = rank, .shuffle = false});
            }),
            "[Trainer] data of several ranks must be whole, since the Trainer divides them; got a loader with a "
            "DistributedSampler(SequentialSampler(36), num_replicas = 3, drop_last = false)");
}

BOOST_AUTO_TEST_CASE(metrics_that_are_no_sums_are_errors) {
  check_all(
      fit_module_by_two<WithLargest>(),
      "[Trainer] metrics of several ranks must add to their state; got one that computes \"most\" in another way");
}

BOOST_AUTO_TEST_CASE(parts_of_loaders) {
  const auto text_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const DataLoader whole(rank_data(10), {.batch_size = 3});
  const DataLoader part = whole.part(1, 2);
  BOOST_TEST(part.size() == 2);
  BOOST_TEST(part.samples() == 10);
  detail::BatchStream stream = part.epoch(0);
  const auto first = stream.next(), second = stream.next();
  BOOST_TEST((first && second && !stream.next()));
  BOOST_TEST(first->size == 3);
  BOOST_TEST((first->part->first == 3 && first->part->size == 3 && first->part->whole == 6));
  BOOST_TEST(first->whole_size() == 6);
  BOOST_TEST((second->part->first == 2 && second->part->size == 2 && second->part->whole == 4));
  const std::vector<double> all = spread_numbers(60, 0.1), own = (*second)["x"].to_doubles();
  BOOST_TEST(own == std::vector<double>(all.begin() + 48, all.end()), boost::test_tools::per_element());
  BOOST_TEST(text_of([&] { part.part(0, 2); }) == "[DataLoader.part] the loader must be whole; got part 1 of 2");
  BOOST_TEST(text_of([&] { whole.part(2, 2); }) == "[DataLoader.part] rank must lie in [0, 2); got 2");
  BOOST_TEST(text_of([&] { DataLoader().part(0, 2); }) ==
             "[DataLoader] part() needs a loader with a data set; got an absent loader");
}

BOOST_AUTO_TEST_SUITE_END()
