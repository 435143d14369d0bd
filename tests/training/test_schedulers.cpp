// Schedulers of configure_optimizers: trajectories of learning rates are those of Lightning.
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>
#include <map>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Numbers of successive validations, as in parity/lightning_schedulers.py.
constexpr std::array<double, 10> validated_numbers{1.0, 0.5, 0.5, 0.50001, 0.6, 0.4, 0.4, 0.4, 0.4, 0.4};

// Notes the learning rate of each batch. A validation logs the next of its numbers.
class Rated : public Module {
 public:
  explicit Rated(LRSchedulerConfig scheduler, std::size_t done = 0)
      : Module("Rated"), validations(done), scheduler_(std::move(scheduler)) {
    add_weight(number_, {.shape = {}, .initializer = Constant(0), .trainable = false});
  }

  Value training_step(const Batch& batch) override { return mean(dense_(batch["x"])) * 0; }
  void validation_step(const Batch& batch) override { log("val_loss", number_ + 0 * mean(batch["x"])); }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = SGD({.learning_rate = 1}), .lr_scheduler = scheduler_}};
  }
  void on_train_batch_start(const HostBatch&, std::int64_t) override { rates.push_back(learning_rate()); }
  void on_validation_start() override { number_.assign(Tensor::scalar(validated_numbers.at(validations++))); }

  std::function<double()> learning_rate;
  std::vector<double> rates;
  std::size_t validations;

 private:
  LRSchedulerConfig scheduler_;
  Variable number_{"number"};
  Dense dense_ = sub("dense", Dense({.units = 1}));
};

// Gives the module the learning rate, and saves a checkpoint after so many batches.
class Observer : public Callback {
 public:
  Observer(Rated& module, std::int64_t save_after, std::string path)
      : rated_(module), save_after_(save_after), path_(std::move(path)) {
    rated_.learning_rate = [this] { return session().learning_rate(); };
  }
  bool saves() const override { return true; }
  void on_train_batch_end(std::int64_t, Logs&) override {
    if (++batches_ != save_after_) return;
    session().save_checkpoint(path_);
    validations_at_save = rated_.validations;
  }

  std::size_t validations_at_save = 0;

 private:
  Rated& rated_;
  std::int64_t save_after_, batches_ = 0;
  std::string path_;
};

struct RatedCase {
  LRSchedulerConfig scheduler;
  std::int64_t batches = 4;
  TrainerOptions options{.max_epochs = 4};
};

LRSchedulerConfig halving(const std::string& interval, int frequency = 1) {
  return {
      .scheduler = [](std::int64_t step) { return std::pow(0.5, step); }, .interval = interval, .frequency = frequency};
}

RatedCase plateau_case(PlateauOptions options, int frequency = 1) {
  options.factor = 0.5;
  return {.scheduler = {.scheduler = Plateau(options), .frequency = frequency, .monitor = "val_loss"},
          .batches = 1,
          .options = {.max_epochs = 10}};
}

std::map<std::string, RatedCase> rated_cases() {
  std::map<std::string, RatedCase> cases{
      {"epoch", {.scheduler = halving("epoch")}},
      {"every_second_epoch", {.scheduler = halving("epoch", 2), .options = {.max_epochs = 5}}},
      {"step", {.scheduler = halving("step"), .options = {.max_epochs = 2}}},
      {"every_third_step", {.scheduler = halving("step", 3)}},
      {"accumulated_steps",
       {.scheduler = halving("step"), .batches = 5, .options = {.max_epochs = 4, .accumulate_grad_batches = 2}}},
      {"accumulated_every_second_step",
       {.scheduler = halving("step", 2), .batches = 5, .options = {.max_epochs = 4, .accumulate_grad_batches = 2}}},
      {"max_steps", {.scheduler = halving("epoch"), .options = {.max_epochs = -1, .max_steps = 10}}},
      {"plateau", plateau_case({.patience = 1})},
      {"plateau_abs", plateau_case({.patience = 1, .threshold = 0.2, .threshold_mode = "abs"})},
      {"plateau_max", plateau_case({.mode = "max", .patience = 1})},
      {"plateau_cooldown", plateau_case({.patience = 0, .cooldown = 2})},
      {"plateau_min_lr", plateau_case({.patience = 0, .min_lr = 0.3})},
      {"plateau_every_second_epoch", plateau_case({.patience = 0}, 2)},
      {"plateau_rare_validation", plateau_case({.patience = 1})},
      {"plateau_step", plateau_case({.patience = 0}, 2)}};
  cases.at("plateau_rare_validation").scheduler.strict = false;
  cases.at("plateau_rare_validation").options.check_val_every_n_epoch = 2;
  RatedCase& step = cases.at("plateau_step");
  step.scheduler.interval = "step";
  step.batches = 4;
  step.options = {.max_epochs = 4, .val_check_interval = 2};
  return cases;
}

DataLoader unit_batches(std::int64_t samples) {
  const std::vector<double> x(static_cast<std::size_t>(samples), 1);
  return DataLoader(pairs(x, x), {.batch_size = 1});
}

Trainer rated_trainer(const RatedCase& one, Callback& callback) {
  TrainerOptions options = one.options;
  options.num_sanity_val_steps = 0;
  options.enable_progress_bar = false;
  options.callbacks = {callback};
  return Trainer(std::move(options));
}

std::string scheduler_refusal(const LRSchedulerConfig& scheduler, const detail::LearningRate& rate = 0.1) {
  class Plain : public Module {
   public:
    explicit Plain(OptimizerConfig config) : Module("Plain"), config_(std::move(config)) {}
    Value training_step(const Batch& batch) override { return mean(dense_(batch["x"])); }
    OptimizerConfigs configure_optimizers() override { return {config_}; }

   private:
    OptimizerConfig config_;
    Dense dense_ = sub("dense", Dense({.units = 1}));
  };
  Plain module({.optimizer = SGD({.learning_rate = rate}), .name = "it", .lr_scheduler = scheduler});
  return refused<Error>([&] { Trainer({.max_epochs = 1, .enable_progress_bar = false}).fit(module, unit_batches(1)); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schedulers)

BOOST_AUTO_TEST_CASE(trajectories_are_those_of_lightning) {
  const CapturedOutput captured;
  for (const auto& [name, one] : rated_cases()) {
    Rated module(one.scheduler);
    Observer observer(module, 0, "");
    rated_trainer(one, observer).fit(module, unit_batches(one.batches), unit_batches(1));
    const auto expected = recorded("lightning_schedulers").at(name).get<std::vector<double>>();
    BOOST_TEST_CONTEXT(name) { BOOST_TEST(module.rates == expected, boost::test_tools::per_element()); }
  }
}

BOOST_AUTO_TEST_CASE(a_resumed_training_goes_on_with_the_same_rates) {
  const CapturedOutput captured;
  const Folder folder;
  const std::string path = folder.path("half.ckpt");
  for (const auto& [name, one] : rated_cases()) {
    const auto expected = recorded("lightning_schedulers").at(name).get<std::vector<double>>();
    const auto total = static_cast<std::int64_t>(expected.size());
    for (const std::int64_t after : {std::int64_t{1}, total / 3, total / 2, total - 2}) {
      Rated module(one.scheduler);
      Observer observer(module, after, path);
      rated_trainer(one, observer).fit(module, unit_batches(one.batches), unit_batches(1));
      Rated other(one.scheduler, observer.validations_at_save);
      Observer again(other, 0, "");
      rated_trainer(one, again).fit(other, unit_batches(one.batches), unit_batches(1), {.ckpt_path = path});
      BOOST_TEST_CONTEXT(name << " resumed after batch " << after) {
        BOOST_TEST(other.rates == std::vector<double>(expected.begin() + after, expected.end()),
                   boost::test_tools::per_element());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(each_fit_begins_anew) {
  const RatedCase one{.scheduler = halving("epoch"), .options = {.max_epochs = 2}};
  Rated module(one.scheduler);
  Observer observer(module, 0, "");
  const Trainer trainer = rated_trainer(one, observer);
  trainer.fit(module, unit_batches(1));
  trainer.fit(module, unit_batches(1));
  BOOST_TEST(module.rates == (std::vector<double>{1, 0.5, 1, 0.5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_skipped_update_is_no_step) {
  const CapturedOutput captured;
  class Overflowing : public Module {
   public:
    Overflowing() : Module("Overflowing") {}
    Value training_step(const Batch& batch) override { return mean(dense_(batch["x"])); }
    OptimizerConfigs configure_optimizers() override {
      return {{.optimizer = optimizer_,
               .loss_scale = LossScaleOptions{.initial_scale = 1024},
               .lr_scheduler = halving("step")}};
    }
    SGD optimizer_{SGDOptions{.learning_rate = 1}};

   private:
    Dense dense_ = sub("dense", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1000)}));
  };
  Overflowing module;
  // The output for x = 1000 overflows.
  const DataLoader loader(pairs({1, 1000, 1}, {0, 0, 0}), {.batch_size = 1});
  Trainer({.max_epochs = 1, .precision = "16-mixed", .enable_progress_bar = false}).fit(module, loader);
  BOOST_TEST(module.optimizer_.iterations() == 2);
  BOOST_TEST(module.optimizer_.learning_rate() == 0.25);
}

BOOST_AUTO_TEST_CASE(configurations_are_checked) {
  const std::string start = "[Trainer] lr_scheduler of optimizer \"it\": ";
  BOOST_TEST(scheduler_refusal(halving("batch")) == start + "unknown interval \"batch\"; valid names: step, epoch");
  BOOST_TEST(scheduler_refusal(halving("step", 0)) == start + "frequency must be at least 1; got 0");
  BOOST_TEST(scheduler_refusal({.scheduler = 0.5}) ==
             start + "scheduler must be a Schedule, a function or a Plateau; got the number 0.5");
  BOOST_TEST(scheduler_refusal({.scheduler = Plateau()}) ==
             start + "monitor must be the name of a number for a Plateau; got none");
  BOOST_TEST(scheduler_refusal(halving("step"), [](std::int64_t) { return 0.1; }) ==
             start + "the optimizer's learning_rate must be a number; got a Schedule");
  BOOST_TEST(scheduler_refusal({.scheduler = Plateau(), .monitor = "val_loss"}) ==
             start + "the number \"val_loss\" must be logged before the scheduler steps; got none");
  const CapturedOutput captured;
  BOOST_TEST(scheduler_refusal({.scheduler = Plateau(), .monitor = "val_loss", .strict = false}) == "");
  BOOST_TEST(captured.text().find("must be logged before the scheduler steps") != std::string::npos);
  BOOST_TEST(refused<ValueError>([] { Plateau({.factor = 1}); }) ==
             "[Plateau] factor must be from 0 to below 1; got 1");
  BOOST_TEST(refused<ValueError>([] { Plateau({.patience = -1}); }) == "[Plateau] patience must be 0 or more; got -1");
  BOOST_TEST(refused<NameError>([] { Plateau({.mode = "auto"}); }) ==
             "[Plateau] unknown mode \"auto\"; valid names: min, max");
}

BOOST_AUTO_TEST_CASE(the_monitor_of_learning_rates_has_its_name_and_interval) {
  class Numbers : public Logger {
   public:
    explicit Numbers(std::vector<Logs>* all) : all_(all) {}
    void log_metrics(const Logs& metrics, std::int64_t) override { all_->push_back(metrics); }

   private:
    std::vector<Logs>* all_;
  };
  for (const char* interval : {"epoch", "step"}) {
    LRSchedulerConfig scheduler = halving(interval);
    scheduler.name = "rate";
    Rated module(scheduler);
    module.learning_rate = [] { return 0.0; };
    std::vector<Logs> all;
    Trainer({.max_epochs = 2,
             .callbacks = {LearningRateMonitor()},
             .logger = {Numbers(&all)},
             .log_every_n_steps = 1,
             .enable_progress_bar = false})
        .fit(module, unit_batches(3));
    std::vector<double> rates;
    for (const Logs& logs : all) {
      if (logs.contains("rate")) rates.push_back(logs["rate"]);
    }
    const std::vector<double> by_epoch{1, 0.5}, by_step{1, 0.5, 0.25, 0.125, 0.0625, 0.03125};
    BOOST_TEST(rates == (interval[0] == 'e' ? by_epoch : by_step), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
