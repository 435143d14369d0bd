// Options and hooks that each must have an effect: replaced gradients, reductions, names, saved files, signals.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

// w = 1 for y = w x, whose hooks may replace gradients. Logs the mean of x by each reduction.
class Hooked : public Module {
 public:
  using Hook = std::function<void(Gradients&)>;
  explicit Hooked(Hook after = {}, Hook before = {})
      : Module("Hooked"), after_(std::move(after)), before_(std::move(before)) {}

  Value training_step(const Batch& batch) override {
    const Value x = mean(batch["x"]);
    for (const char* name : {"mean", "sum", "min", "max"}) log(name, x, {.reduce_fx = name});
    log("both", x, {.on_step = true, .on_epoch = true});
    log("epoch", x, {.on_step = false, .on_epoch = true});
    log("step", x, {.on_step = true, .on_epoch = false});
    return mean_squared_error(batch["y"], dense_(batch["x"]));
  }
  void validation_step(const Batch& batch) override { log("number", mean(batch["x"])); }
  void on_after_backward(Gradients& gradients) override {
    if (after_) after_(gradients);
  }
  void on_before_optimizer_step(Gradients& gradients, const OptimizerHandle&) override {
    if (before_) before_(gradients);
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.5})}}; }

 private:
  Hook after_, before_;
  Dense dense_ = sub("dense", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
};

void scale_gradients(Gradients& gradients, float factor) {
  for (Gradient& gradient : gradients) gradient.value = gradient.value * factor;
}

DataLoader hooked_data(std::int64_t batch_size = 1) {
  return DataLoader(pairs({1, 2, 4}, {0, 0, 0}), {.batch_size = batch_size});
}

TrainerOptions quiet_options(int epochs = 1) { return {.max_epochs = epochs, .enable_progress_bar = false}; }

// Weight after a step on x = 1, y = 0: the gradient of w = 1 is 2, of which hooks make another one.
double hooked_weight(const Hooked::Hook& after, const Hooked::Hook& before, TrainerOptions options = quiet_options()) {
  Hooked module(after, before);
  options.max_steps = 1;
  Trainer(std::move(options)).fit(module, hooked_data());
  return weight_of(module);
}

class StepCounter : public Callback {
 public:
  explicit StepCounter(bool stops = false) : stops_(stops) {}
  void on_train_batch_end(std::int64_t, Logs&) override {
    ++batches;
    if (stops_) session().stop();
  }
  void on_validation_end(Logs&) override { ++validations; }
  int batches = 0, validations = 0;

 private:
  bool stops_;
};

class MetricNames : public Logger {
 public:
  explicit MetricNames(std::map<std::string, std::vector<double>>* all) : all_(all) {}
  void log_metrics(const Logs& metrics, std::int64_t) override {
    for (const auto& [name, number] : metrics) (*all_)[name].push_back(number);
  }

 private:
  std::map<std::string, std::vector<double>>* all_;
};

// Raises a signal in the second batch, and leaves a file in teardown().
class Signalled : public Hooked {
 public:
  Signalled(std::string folder, int number, int times) : folder_(std::move(folder)), number_(number), times_(times) {}
  void on_train_batch_start(const HostBatch&, std::int64_t batch_idx) override {
    for (int i = 0; batch_idx == 1 && i < times_; ++i) std::raise(number_);
  }
  void teardown(const std::string&) override { std::filesystem::create_directory(folder_ + "/torn_down"); }

 private:
  std::string folder_;
  int number_, times_;
};

// Status of a child process that trains until a signal.
int status_of_signalled(const std::string& folder, int number, int times) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    set_output([](const std::string&) {});
    Signalled module(folder, number, times);
    TrainerOptions options = quiet_options(100);
    options.default_root_dir = folder;
    Trainer(options).fit(module, hooked_data());
    _exit(1);
  }
  int status = 0;
  BOOST_TEST_REQUIRE(child > 0);
  BOOST_TEST_REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(trainer_effects)

BOOST_AUTO_TEST_CASE(hooks_replace_gradients) {
  const auto by = [](float factor) { return [factor](Gradients& gradients) { scale_gradients(gradients, factor); }; };
  for (const bool eager : {false, true}) {
    TrainerOptions options = quiet_options();
    options.eager = eager;
    BOOST_TEST(hooked_weight({}, {}, options) == 1 - 0.5 * 2);
    BOOST_TEST(hooked_weight(by(0.5F), {}, options) == 1 - 0.5 * 1);
    BOOST_TEST(hooked_weight({}, by(0.25F), options) == 1 - 0.5 * 0.5);
    BOOST_TEST(hooked_weight(by(0.5F), by(0.25F), options) == 1 - 0.5 * 0.25);
    options.gradient_clip_val = 0.125;  // after the hooks
    BOOST_TEST(hooked_weight({}, by(4), options) == 1 - 0.5 * 0.125);
    options.gradient_clip_algorithm = "value";
    BOOST_TEST(hooked_weight({}, by(4), options) == 1 - 0.5 * 0.125);
  }
  BOOST_TEST(refused<ShapeError>([] {
               hooked_weight({}, [](Gradients& gradients) { gradients[0].value = Value(Tensor({1, 2})); });
             }) == "[Module] the gradient of \"dense/kernel\" must keep its shape (1, 1); a hook gave shape (1, 2)");
  BOOST_TEST(refused<ValueError>([] { hooked_weight([](Gradients& gradients) { gradients.clear(); }, {}); }) ==
             "[Module] a hook must leave all 1 gradients in the list; got 0");
}

BOOST_AUTO_TEST_CASE(numbers_of_epochs_are_reduced_as_asked) {
  Hooked module;
  const History history = Trainer(quiet_options()).fit(module, hooked_data(2));  // means 1.5 of two and 4 of one
  BOOST_TEST(history.history.at("mean").at(0) == 7.0 / 3, tolerance(1e-6));
  BOOST_TEST(history.history.at("sum").at(0) == 5.5);
  BOOST_TEST(history.history.at("min").at(0) == 1.5);
  BOOST_TEST(history.history.at("max").at(0) == 4);
}

BOOST_AUTO_TEST_CASE(loggers_get_the_numbers_of_steps_and_epochs_by_name) {
  Hooked module;
  std::map<std::string, std::vector<double>> all;
  TrainerOptions options = quiet_options();
  options.logger = {MetricNames(&all)};
  options.log_every_n_steps = 1;
  const History history = Trainer(options).fit(module, hooked_data());
  BOOST_TEST(all["both_step"] == (std::vector<double>{1, 2, 4}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(all["both_epoch"].size() == 1U);
  BOOST_TEST(all["both_epoch"][0] == 7.0 / 3, tolerance(1e-6));
  BOOST_TEST(all["step"] == (std::vector<double>{1, 2, 4}), boost::test_tools::per_element());
  for (const char* name : {"both", "epoch_step", "epoch_epoch", "step_step", "step_epoch"}) {
    BOOST_TEST(all.count(name) == 0U, name);
  }
  BOOST_TEST(history.history.count("both") == 1U);
  BOOST_TEST(history.history.count("step") == 0U);
}

BOOST_AUTO_TEST_CASE(validation_by_time_runs_when_the_time_is_over) {
  const auto validations = [](const detail::CheckInterval& interval) {
    Hooked module;
    StepCounter counter;
    TrainerOptions options = quiet_options(2);
    options.num_sanity_val_steps = 0;
    options.val_check_interval = interval;
    options.callbacks = {counter};
    Trainer(options).fit(module, hooked_data(), hooked_data());
    return counter.validations;
  };
  BOOST_TEST(validations(std::chrono::hours(1)) == 0);
  BOOST_TEST(validations("00:01:00:00") == 0);
  BOOST_TEST(validations(std::chrono::nanoseconds(1)) == 6);
}

BOOST_AUTO_TEST_CASE(a_summary_is_printed_if_asked_for) {
  for (const bool enabled : {false, true}) {
    const CapturedOutput captured;
    Hooked module;
    TrainerOptions options = quiet_options();
    options.enable_model_summary = enabled;
    Trainer(options).fit(module, hooked_data());
    BOOST_TEST((captured.text().find("Total params") != std::string::npos) == enabled, captured.text());
  }
}

BOOST_AUTO_TEST_CASE(checkpoints_are_saved_if_asked_for) {
  for (const bool enabled : {false, true}) {
    const Folder folder;
    Hooked module, other;
    TrainerOptions options = quiet_options(2);
    options.default_root_dir = folder.path();
    if (enabled) options.enable_checkpointing = true;
    Trainer(options).fit(module, hooked_data());
    const std::string path = folder.path("checkpoints/last.ckpt");
    BOOST_TEST(std::filesystem::exists(path) == enabled);
    if (!enabled) continue;
    options.max_epochs = 3;
    const History history = Trainer(options).fit(other, hooked_data(), {}, {.ckpt_path = path});
    BOOST_TEST(history.epoch == std::vector<int>{2}, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(limits_count_from_the_start_of_the_training) {
  const Folder folder;
  const std::string path = folder.path("half.ckpt");
  const auto train = [&](TrainerOptions options, StepCounter& counter, const std::string& resumed) {
    Hooked module;
    options.enable_progress_bar = false;
    options.callbacks = {counter};
    Trainer(options).fit(module, hooked_data(), {}, {.ckpt_path = resumed});
    if (resumed.empty()) Trainer::save_checkpoint(module, path);
    return counter.batches;
  };
  StepCounter first, by_steps, by_epochs, by_minimum(true), at_once(true);
  BOOST_TEST(train({.max_epochs = 10, .max_steps = 4}, first, "") == 4);
  BOOST_TEST(train({.max_epochs = 10, .max_steps = 7}, by_steps, path) == 3);
  BOOST_TEST(train({.max_epochs = 3}, by_epochs, path) == 5);
  BOOST_TEST(train({.max_epochs = 10, .min_epochs = 3}, by_minimum, path) == 5);
  BOOST_TEST(train({.max_epochs = 10, .min_epochs = 1}, at_once, path) == 1);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_process_after_its_step_with_a_checkpoint) {
  for (const auto& [number, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const Folder folder;
    const int status = status_of_signalled(folder.path(), number, 1);
    BOOST_TEST_REQUIRE(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == code);
    BOOST_TEST(std::filesystem::exists(folder.path("torn_down")));
    Hooked module;
    StepCounter counter;
    TrainerOptions options = quiet_options(2);
    options.callbacks = {counter};
    Trainer(options).fit(module, hooked_data(), {}, {.ckpt_path = folder.path("checkpoints/interrupted.ckpt")});
    BOOST_TEST(counter.batches == 4);  // of 6: the signal came in the second
  }
}

BOOST_AUTO_TEST_CASE(a_second_interrupt_ends_the_process_at_once) {
  const Folder folder;
  const int status = status_of_signalled(folder.path(), SIGINT, 2);
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGINT);
  BOOST_TEST(!std::filesystem::exists(folder.path("torn_down")));
  BOOST_TEST(!std::filesystem::exists(folder.path("checkpoints/interrupted.ckpt")));
}

// Calls interrupt_training() in the second batch.
class Interrupter : public Callback {
 public:
  void on_train_batch_end(std::int64_t batch, Logs&) override {
    if (batch == 1) interrupt_training();
  }
};

BOOST_AUTO_TEST_CASE(interrupt_training_ends_fit_with_an_exception_and_a_checkpoint) {
  const Folder folder;
  interrupt_training();  // before a fit: no effect
  Hooked module;
  TrainerOptions options = quiet_options(2);
  options.default_root_dir = folder.path();
  Trainer(options).fit(module, hooked_data());
  options.callbacks = {Interrupter()};
  const auto interrupted = [](const Interrupted& error) {
    return error.signal == 0 && error.what() == std::string("[Trainer] fit: interrupted");
  };
  BOOST_CHECK_EXCEPTION(Trainer(options).fit(module, hooked_data()), Interrupted, interrupted);
  StepCounter counter;
  options.callbacks = {counter};
  Trainer(options).fit(module, hooked_data(), {}, {.ckpt_path = folder.path("checkpoints/interrupted.ckpt")});
  BOOST_TEST(counter.batches == 4);  // of 6

  Sequential model({Dense({.units = 1})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  BOOST_CHECK_EXCEPTION(
      model.fit(Tensor({4, 1}), Tensor({4, 1}), {.batch_size = 1, .verbose = 0, .callbacks = {Interrupter()}}),
      Interrupted, interrupted);
}

BOOST_AUTO_TEST_SUITE_END()
