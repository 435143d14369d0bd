// Numbers that hooks log, and numbers of single steps of evaluations: receivers, names, steps and refusals.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <functional>

#include "small.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

using LoggedLines = std::vector<std::string>;

std::string line_of(std::int64_t step, const std::map<std::string, double>& metrics) {
  std::string line = fmt::format("{}:", step);
  for (const auto& [name, number] : metrics) line += fmt::format(" {}={}", name, number);
  return line;
}

class LoggedCalls : public Logger {
 public:
  explicit LoggedCalls(LoggedLines* lines) : lines_(lines) {}
  void log_metrics(const Logs& metrics, std::int64_t step) override { lines_->push_back(line_of(step, metrics)); }

 private:
  LoggedLines* lines_;
};

// Logs in the hook of that name, with those numbers one after the other.
class LogsInHooks : public Module {
 public:
  explicit LogsInHooks(std::string hook = {}, std::string name = "hook")
      : Module("LogsInHooks"), hook_(std::move(hook)), name_(std::move(name)) {}
  Value training_step(const Batch& batch) override { return mean_squared_error(batch["y"], dense_(batch["x"])); }
  void validation_step(const Batch& batch) override { log("val_loss", mean(batch["x"])); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }

  void on_fit_start() override { note("on_fit_start"); }
  void on_train_start() override { note("on_train_start"); }
  void on_train_epoch_start() override { note("on_train_epoch_start"); }
  void on_train_batch_start(const HostBatch&, std::int64_t) override { note("on_train_batch_start"); }
  void on_train_batch_end(const Logs&, const HostBatch&, std::int64_t) override { note("on_train_batch_end"); }
  void on_train_epoch_end() override { note("on_train_epoch_end"); }
  void on_train_end() override { note("on_train_end"); }
  void on_fit_end() override { note("on_fit_end"); }
  void on_validation_start() override { note("on_validation_start"); }
  void on_validation_epoch_start() override { note("on_validation_epoch_start"); }
  void on_validation_batch_start(const HostBatch&, std::int64_t) override { note("on_validation_batch_start"); }
  void on_validation_batch_end(const HostBatch&, std::int64_t) override { note("on_validation_batch_end"); }
  void on_validation_epoch_end() override { note("on_validation_epoch_end"); }
  void on_validation_end() override { note("on_validation_end"); }
  void on_test_epoch_end() override { note("on_test_epoch_end"); }
  void on_test_end() override { note("on_test_end"); }
  void on_predict_epoch_end() override { note("on_predict_epoch_end"); }

 private:
  void note(const std::string& hook) {
    if (hook == hook_) log(name_, number_++);
  }

  std::string hook_, name_;
  double number_ = 1;
  Dense dense_ = sub("dense", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
};

DataLoader two_batches() { return DataLoader(pairs({1, 2}, {1, 2}), {.batch_size = 1}); }

TrainerOptions two_epochs(const Callbacks& callbacks = {}, LoggedLines* lines = nullptr) {
  TrainerOptions options{
      .max_epochs = 2, .num_sanity_val_steps = 0, .callbacks = callbacks, .enable_progress_bar = false};
  if (lines != nullptr) options.logger = {LoggedCalls(lines)};
  return options;
}

// As in parity/lightning_loaders.py.
class StepLogging : public Module {
 public:
  StepLogging() : Module("StepLogging") {}
  Value training_step(const Batch& batch) override { return mean(dense_(batch["x"])) * 0; }
  void validation_step(const Batch& batch) override {
    const Value number = mean(batch["x"]);
    log("step", number, {.on_step = true, .on_epoch = false});
    log("both", number + static_cast<float>(dataloader_idx()), {.on_step = true, .on_epoch = true});
    log("index", cast(batch_idx(), DType::float32) + 0 * number);
  }
  void test_step(const Batch& batch) override { log("both", mean(batch["x"]), {.on_step = true, .on_epoch = true}); }
  void on_validation_epoch_end() override { log("hook", 7.0); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0})}}; }

 private:
  Dense dense_ = sub("dense", Dense({.units = 1, .use_bias = false}));
};

DataLoader logged_from(double first, int samples) {
  std::vector<double> x;
  for (int i = 0; i < samples; ++i) x.push_back(first + i);
  return DataLoader(pairs(x, x), {.batch_size = 1});
}

// Lines of Lightning without numbers of training epochs. Numbers of epochs have the number of updates as their step
// here, one more than Lightning's index.
LoggedLines lines_of_lightning(const std::string& name) {
  LoggedLines out;
  for (const auto& call : recorded("lightning_loaders").at(name)) {
    auto metrics = call.at("metrics").get<std::map<std::string, double>>();
    const bool by_epoch = metrics.count("epoch") != 0;
    const bool tests = by_epoch && metrics.at("epoch") == 2;  // the test, which has no epoch here
    if (tests) metrics.erase("epoch");
    out.push_back(line_of(call.at("step").get<std::int64_t>() + (by_epoch && !tests ? 1 : 0), metrics));
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(logged_numbers)

BOOST_AUTO_TEST_CASE(numbers_of_hooks_reach_history_and_loggers) {
  const std::map<std::string, std::vector<double>> expected{
      {"on_train_epoch_start", {1, 2}},      {"on_train_batch_start", {2, 4}},    {"on_train_batch_end", {2, 4}},
      {"on_train_epoch_end", {1, 2}},        {"on_validation_start", {1, 2}},     {"on_validation_epoch_start", {1, 2}},
      {"on_validation_batch_start", {2, 4}}, {"on_validation_batch_end", {2, 4}}, {"on_validation_epoch_end", {1, 2}}};
  for (const auto& [hook, numbers] : expected) {
    BOOST_TEST_CONTEXT(hook) {
      LogsInHooks module(hook);
      LoggedLines lines;
      const History history = Trainer(two_epochs({}, &lines)).fit(module, two_batches(), two_batches());
      BOOST_TEST(history["hook"] == numbers, per_element());
      std::size_t seen = 0;
      for (const std::string& line : lines) seen += line.find(fmt::format(" hook={}", numbers.back())) != line.npos;
      BOOST_TEST(seen == 1U);
    }
  }
}

BOOST_AUTO_TEST_CASE(they_are_the_numbers_of_evaluations) {
  LogsInHooks validated("on_validation_epoch_end"), tested("on_test_epoch_end");
  BOOST_TEST(Trainer().validate(validated, two_batches()).at("hook") == 1);
  BOOST_TEST(Trainer().test(tested, two_batches()).at("hook") == 1);
}

BOOST_AUTO_TEST_CASE(monitors_see_them) {
  for (const char* hook : {"on_validation_epoch_end", "on_train_batch_end", "on_validation_start"}) {
    LogsInHooks module(hook);
    EarlyStopping stopping({.monitor = "hook", .patience = 1, .mode = "min"});
    TrainerOptions options = two_epochs({stopping});
    options.max_epochs = 9;
    const History history = Trainer(options).fit(module, two_batches(), two_batches());
    BOOST_TEST(history.epoch.size() == 2U);  // the numbers grow
    BOOST_TEST((stopping.best() == history["hook"].front()));
  }
}

BOOST_AUTO_TEST_CASE(hooks_whose_numbers_nothing_receives_refuse) {
  const std::string text =
      "[Module] log(\"hook\", ...): must be called in a step, in a hook from on_train_epoch_start to "
      "on_train_epoch_end, or in one of an evaluation up to on_validation_epoch_end or on_test_epoch_end; got another "
      "hook";
  for (const char* hook : {"on_fit_start", "on_train_start", "on_validation_end", "on_train_end", "on_fit_end"}) {
    LogsInHooks module(hook);
    BOOST_TEST_CONTEXT(hook) {
      check_throws<ValueError>(text, [&] { Trainer(two_epochs()).fit(module, two_batches(), two_batches()); });
    }
  }
  LogsInHooks validated("on_validation_end"), tested("on_test_end"), predicted("on_predict_epoch_end");
  check_throws<ValueError>(text, [&] { Trainer().validate(validated, two_batches()); });
  check_throws<ValueError>(text, [&] { Trainer().test(tested, two_batches()); });
  class Predicts : public LogsInHooks {
   public:
    Predicts() : LogsInHooks("on_predict_epoch_end") {}
    Value predict_step(const Batch& batch) override { return batch["x"] * 1.0f; }
  };
  Predicts predicts;
  check_throws<ValueError>(text, [&] { Trainer().predict(predicts, two_batches()); });
}

BOOST_AUTO_TEST_CASE(a_name_belongs_to_steps_or_hooks) {
  LogsInHooks before("on_validation_start", "val_loss"), after("on_validation_epoch_end", "val_loss");
  check_throws<NameError>(
      "[Module] log(\"val_loss\", ...): names of hooks and steps must differ; got one that a hook has logged",
      [&] { Trainer().validate(before, two_batches()); });
  check_throws<NameError>(
      "[Module] log(\"val_loss\", ...): names of hooks and steps must differ; got one that a step has logged",
      [&] { Trainer().validate(after, two_batches()); });
}

BOOST_AUTO_TEST_CASE(numbers_that_callbacks_add_reach_history) {
  class Adding : public Callback {
   public:
    void on_test_end(Logs& logs) override { logs.set("of_test", 3); }
    void on_validation_end(Logs& logs) override { logs.set("of_validation", 4); }
  };
  LogsInHooks module;
  LoggedLines lines;
  EarlyStopping stopping({.monitor = "of_validation", .patience = 9, .mode = "min"});
  const History history = Trainer(two_epochs({Adding(), stopping}, &lines)).fit(module, two_batches(), two_batches());
  BOOST_TEST(history["of_test"] == (std::vector<double>{3, 3}), per_element());
  BOOST_TEST(history["of_validation"] == (std::vector<double>{4, 4}), per_element());
  BOOST_TEST((stopping.best() == 4.0));
  BOOST_TEST(lines.front() == "2: epoch=0 of_test=3 of_validation=4 val_loss=1.5");
}

BOOST_AUTO_TEST_CASE(steps_of_evaluations_are_logged_as_by_lightning) {
  for (const int loaders : {1, 2}) {
    StepLogging module;
    LoggedLines lines;
    TrainerOptions options = two_epochs({}, &lines);
    options.val_check_interval = 0.5;
    options.num_sanity_val_steps = 1;
    const DataLoaders validation =
        loaders == 1 ? DataLoaders(logged_from(0, 2)) : DataLoaders{logged_from(0, 2), logged_from(10, 3)};
    Trainer(options).fit(module, logged_from(0, 4), validation);
    if (loaders == 1) Trainer(options).test(module, logged_from(0, 2));
    LoggedLines expected = lines_of_lightning(fmt::format("logged with {}", loaders));
    if (loaders == 2) {  // the number of a hook belongs to no loader in both
      BOOST_TEST(lines.size() == expected.size());
    }
    BOOST_TEST(lines == expected, per_element());
  }
}

BOOST_AUTO_TEST_CASE(steps_of_evaluations_have_the_names_of_history) {
  class Same : public StepLogging {
   public:
    Value training_step(const Batch& batch) override {
      const Value loss = StepLogging::training_step(batch);
      log("both", loss);
      return loss;
    }
  };
  Same module;
  LoggedLines lines;
  Trainer(two_epochs({}, &lines)).fit(module, logged_from(0, 1), {logged_from(0, 1), logged_from(1, 1)});
  BOOST_TEST(lines.at(0) == "0: step/dataloader_idx_0=0 val_both_step/dataloader_idx_0=0");
  BOOST_TEST(lines.at(1) == "0: step/dataloader_idx_1=1 val_both_step/dataloader_idx_1=2");
  BOOST_TEST(lines.at(2).find(" val_both_epoch/dataloader_idx_1=2") != std::string::npos, lines.at(2));
}

BOOST_AUTO_TEST_CASE(a_resume_keeps_numbers_of_hooks_and_steps_of_validations) {
  class SaveInEpoch : public Callback {
   public:
    explicit SaveInEpoch(std::string path) : path_(std::move(path)) {}
    bool saves() const override { return true; }
    void on_train_batch_end(std::int64_t batch, Logs&) override {
      if (session().current_epoch() == 1 && batch == 0) session().save_checkpoint(path_);
    }

   private:
    std::string path_;
  };
  // Logs once an epoch, in its first batch.
  class First : public StepLogging {
   public:
    void on_train_batch_end(const Logs&, const HostBatch&, std::int64_t batch_idx) override {
      if (batch_idx == 0) log("first", 5.0);
    }
  };
  const Folder folder;
  First whole, resumed;
  LoggedLines all, rest;
  const auto validation = logged_from(0, 2);
  Trainer(two_epochs({SaveInEpoch(folder.path("c"))}, &all)).fit(whole, logged_from(0, 3), validation);
  const History history =
      Trainer(two_epochs({}, &rest)).fit(resumed, logged_from(0, 3), validation, {.ckpt_path = folder.path("c")});
  BOOST_TEST(history["first"] == (std::vector<double>{5}), per_element());
  BOOST_TEST_REQUIRE((!rest.empty() && rest.size() < all.size()));
  BOOST_TEST(rest == LoggedLines(all.end() - static_cast<std::ptrdiff_t>(rest.size()), all.end()), per_element());
}

BOOST_AUTO_TEST_SUITE_END()
