// Timer, the monitors, ModelSummary and GradientAccumulationScheduler.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

#include <nlohmann/json.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

History fit_line(Sequential& model, int epochs, const Callbacks& callbacks) {
  return model.fit(column(xs), column(ys),
                   {.batch_size = 2,
                    .epochs = epochs,
                    .verbose = 0,
                    .callbacks = callbacks,
                    .validation_data = {{column({1, 2, 3}), column({2, 4, 6})}},
                    .validation_batch_size = 1});
}

// Keeps what it receives: steps and numbers.
class Recorder : public Logger {
 public:
  void log_metrics(const Logs& metrics, std::int64_t step) override { rows->emplace_back(step, metrics); }
  std::shared_ptr<std::vector<std::pair<std::int64_t, Logs>>> rows =
      std::make_shared<std::vector<std::pair<std::int64_t, Logs>>>();

  // Rows with a number whose name has that text.
  std::vector<std::pair<std::int64_t, Logs>> with(const std::string& text) const {
    std::vector<std::pair<std::int64_t, Logs>> out;
    for (const auto& row : *rows) {
      const auto has = [&](const auto& entry) { return entry.first.find(text) != std::string::npos; };
      if (std::any_of(row.second.begin(), row.second.end(), has)) out.push_back(row);
    }
    return out;
  }
};

// Fits by a Trainer with a logger.
Recorder logged(const Any<Optimizer>& optimizer, const Callbacks& callbacks, int every = 1, bool validates = false) {
  Recorder recorder;
  Sequential model = line(0.5);
  model.compile({.optimizer = optimizer, .loss = "mse"});
  const DataLoader data(pairs(xs, ys), {.batch_size = 2});
  Trainer({.max_epochs = 2,
           .callbacks = callbacks,
           .logger = {recorder},
           .log_every_n_steps = every,
           .enable_progress_bar = false})
      .fit(model, data, validates ? data : DataLoader());
  return recorder;
}

void check_rates(const std::string& name, const Any<Optimizer>& optimizer, const LearningRateMonitorOptions& options,
                 int every = 1) {
  LearningRateMonitor monitor(options);
  const auto rows = logged(optimizer, {monitor}, every).with("lr-");
  const nlohmann::json& record = recorded("lightning_callbacks").at(name);
  BOOST_TEST_CONTEXT(name) {
    BOOST_TEST_REQUIRE(rows.size() == record.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      BOOST_TEST(rows[i].first == record[i][0].get<std::int64_t>());
      BOOST_TEST(rows[i].second.size() == record[i][1].size());
      for (const auto& [key, number] : record[i][1].items()) {
        BOOST_TEST(rows[i].second[key] == number.get<double>(), boost::test_tools::tolerance(1e-12));
      }
    }
    BOOST_TEST(monitor.lrs().begin()->second.size() == rows.size());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(monitors)

BOOST_AUTO_TEST_CASE(learning_rates_are_logged_as_by_lightning) {
  check_rates("monitor", SGD({.learning_rate = 0.01, .momentum = 0.5}),
              {.log_momentum = true, .log_weight_decay = true});
  check_rates("monitor_step", Adam({.learning_rate = 0.01, .weight_decay = 0.25}),
              {.logging_interval = "step", .log_momentum = true, .log_weight_decay = true}, 2);
  check_rates("monitor_epoch", SGD({.learning_rate = 0.01}), {.logging_interval = "epoch"});
}

BOOST_AUTO_TEST_CASE(learning_rates_of_groups_and_names) {
  LearningRateMonitor monitor({.logging_interval = "epoch", .log_weight_decay = true, .log_key_prefix = "optim/"});
  const Recorder recorder =
      logged(SGD({.learning_rate = 0.01,
                  .name = "mine",
                  .groups = {{.match = ".*kernel", .learning_rate_factor = 0.5, .weight_decay = 0.125}}}),
             {monitor});
  const Logs first = recorder.with("lr-").at(0).second;
  BOOST_TEST(first["optim/lr-mine/pg1"] == 0.01);
  BOOST_TEST(first["optim/lr-mine/pg2"] == 0.005);
  BOOST_TEST(first["optim/lr-mine/pg2-weight_decay"] == 0.125);
  BOOST_TEST(monitor.lrs().at("optim/lr-mine/pg2").size() == 2U);
  BOOST_TEST(refused<NameError>([] { LearningRateMonitor({.logging_interval = "batch"}); }).find("epoch") !=
             std::string::npos);
  Sequential model = compiled_line();
  BOOST_TEST(refused<ValueError>([&] { fit_line(model, 1, {LearningRateMonitor()}); }) ==
             "[LearningRateMonitor] a Trainer with a logger must run the training; got one without");
}

BOOST_AUTO_TEST_CASE(stats_of_the_machine_are_logged) {
  const Recorder recorder = logged(SGD(), {DeviceStatsMonitor()}, 3, true);
  const std::string prefix = "DeviceStatsMonitor.on_train_batch_start/";
  const auto rows = recorder.with(prefix);
  BOOST_TEST_REQUIRE(rows.size() == 2U);  // of 6 steps
  const Logs& numbers = rows.back().second;
  BOOST_TEST(numbers.size() == DeviceStatsMonitor::names().size());
  for (const char* name : {"cpu_percent", "cpu_vm_percent", "cpu_swap_percent"}) {
    BOOST_TEST(numbers[prefix + name] >= 0);
    BOOST_TEST(numbers[prefix + name] <= 100);
  }
  BOOST_TEST(numbers[prefix + "process_resident_bytes"] > 1e6);
  BOOST_TEST(numbers[prefix + "process_cpu_percent"] >= 0);
  BOOST_TEST(numbers[prefix + "load_1min"] >= 0);
  BOOST_TEST(recorder.with("on_train_batch_end/").size() == 2U);
  BOOST_TEST(recorder.with("on_validation_batch_end/").size() == 6U);  // after steps 3 and 6
  const Recorder some = logged(SGD(), {DeviceStatsMonitor({.filter_keys = {"load_1min"}})});
  BOOST_TEST(some.with(prefix).at(0).second.size() == 1U);
  BOOST_TEST(refused<NameError>([] { DeviceStatsMonitor({.filter_keys = {"gpu"}}); }).find("load_1min") !=
             std::string::npos);
  Sequential model = compiled_line();
  BOOST_TEST(refused<ValueError>([&] { fit_line(model, 1, {DeviceStatsMonitor()}); }) ==
             "[DeviceStatsMonitor] a Trainer with a logger must run the training; got one without");
}

BOOST_AUTO_TEST_CASE(throughput_is_logged) {
  const Recorder recorder = logged(SGD(), {ThroughputMonitor()}, 2, true);
  const auto train = recorder.with("train/samples"), validation = recorder.with("validate/samples");
  BOOST_TEST_REQUIRE(train.size() == 3U);
  BOOST_TEST(train[1].second["train/batches"] == 4);
  BOOST_TEST_REQUIRE(validation.size() == 2U);
  BOOST_TEST(validation[0].second["validate/samples"] == 5);
}

BOOST_AUTO_TEST_CASE(gradients_are_accumulated_by_epoch) {
  const auto updates = [](const GradientAccumulationSchedulerOptions& options, int own) {
    Sequential model = compiled_line();
    std::vector<std::int64_t> counts;
    struct Steps : Callback {
      explicit Steps(std::vector<std::int64_t>& to) : counts(to) {}
      void on_epoch_end(int, Logs&) override { counts.push_back(session().global_step()); }
      std::vector<std::int64_t>& counts;
    };
    Trainer({.max_epochs = 3,
             .accumulate_grad_batches = own,
             .callbacks = {GradientAccumulationScheduler(options), Steps(counts)},
             .enable_progress_bar = false})
        .fit(model, DataLoader(pairs(xs, ys), {.batch_size = 1}));
    return counts;
  };
  // 5 batches an epoch; the last update of an epoch may have fewer.
  BOOST_TEST(updates({.scheduling = {{0, 5}, {1, 2}}}, 1) == (std::vector<std::int64_t>{1, 4, 7}),
             boost::test_tools::per_element());
  BOOST_TEST(updates({.scheduling = {{2, 5}}}, 1) == (std::vector<std::int64_t>{5, 10, 11}),
             boost::test_tools::per_element());
  BOOST_TEST(refused<ValueError>([&] {
               updates({.scheduling = {{0, 2}}}, 3);
             }) == "[GradientAccumulationScheduler] accumulate_grad_batches of the Trainer must be 1; got 3");
}

BOOST_AUTO_TEST_CASE(a_timer_measures_stages) {
  Timer timer;
  BOOST_TEST(!timer.start_time().has_value());
  BOOST_TEST(timer.time_elapsed() == 0);
  Sequential model = compiled_line();
  fit_line(model, 2, {timer});
  for (const char* stage : {"train", "validate"}) {
    BOOST_TEST(timer.start_time(stage).value() < timer.end_time(stage).value());
    BOOST_TEST(timer.time_elapsed(stage) == *timer.end_time(stage) - *timer.start_time(stage));
  }
  BOOST_TEST(timer.time_elapsed("validate") < timer.time_elapsed());
  BOOST_TEST(timer.time_elapsed("predict") == 0);
  model.predict(column(xs), {.callbacks = {timer}});
  BOOST_TEST(timer.time_elapsed("predict") > 0);
  BOOST_TEST(!timer.time_remaining().has_value());
  BOOST_TEST(refused<NameError>([&] { timer.start_time("tune"); }).find("validate") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_timer_stops_the_training) {
  const CapturedOutput captured;
  struct Steps : Callback {
    void on_train_batch_end(std::int64_t, Logs&) override { ++count; }
    int count = 0;
  };
  // Time passes in the hook, so that the limit is reached in the first batch.
  struct Pause : Callback {
    void on_train_batch_end(std::int64_t, Logs&) override {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      while (std::chrono::steady_clock::now() < end) {
      }
    }
  };
  const auto steps = [&](TimerOptions options) {
    Sequential model = compiled_line();
    model.fit(column(xs), column(ys), {.batch_size = 2, .epochs = 1, .verbose = 0});  // traces
    Steps count;
    fit_line(model, 3, {Pause(), Timer(std::move(options)), count});
    return count.count;
  };
  BOOST_TEST(steps({.duration = std::chrono::milliseconds(10), .verbose = false}) == 1);
  BOOST_TEST(steps({.duration = std::chrono::milliseconds(10), .interval = "epoch", .verbose = false}) == 3);
  BOOST_TEST(steps({.duration = std::chrono::hours(1)}) == 9);
  BOOST_TEST(captured.text() == "");
  BOOST_TEST(steps({.duration = 1e-9}) == 0);
  BOOST_TEST(captured.text() == "[Timer] the time limit of 1e-09 s is reached: training stops\n");
  BOOST_TEST(steps({.duration = "00:01:00:00"}) == 9);
  BOOST_TEST(refused<NameError>([] { Timer({.interval = "batch"}); }).find("epoch") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(checkpoints_keep_the_time) {
  const Folder folder;
  const DataLoader data(pairs(xs, ys), {.batch_size = 2});
  const auto fit = [&](Timer& timer, int epochs, const std::string& from, const Callbacks& more) {
    Sequential model = compiled_line();
    Callbacks all{timer};
    all.insert(all.end(), more.begin(), more.end());
    return Trainer({.max_epochs = epochs, .callbacks = all, .enable_progress_bar = false})
        .fit(model, data, {}, {.ckpt_path = from});
  };
  Timer first, second, spent({.duration = std::chrono::nanoseconds(1), .verbose = false});
  double saved = 0;
  const LambdaCallback note({.on_epoch_end = [&](int, Logs&) { saved = first.time_elapsed(); }});
  fit(first, 1, "", {LambdaCallback(note), ModelCheckpoint(folder.path("a.ckpt"))});
  fit(second, 2, folder.path("a.ckpt"), {});
  BOOST_TEST(second.time_elapsed() > saved + *second.end_time() - *second.start_time());
  BOOST_TEST(fit(spent, 2, folder.path("a.ckpt"), {}).epoch.empty());
}

BOOST_AUTO_TEST_CASE(throughput_counts_batches_and_samples) {
  Sequential model = compiled_line();
  ThroughputMonitor monitor;
  BOOST_TEST(monitor.compute().empty());
  fit_line(model, 2, {monitor});
  const Logs train = monitor.compute(), validation = monitor.compute("validate");
  BOOST_TEST(train["train/batches"] == 6);
  BOOST_TEST(train["train/samples"] == 10);
  BOOST_TEST(validation["validate/batches"] == 3);
  BOOST_TEST(validation["validate/samples"] == 3);
  BOOST_TEST(train["train/time"] > 0);
  const double batches = train["train/device/batches_per_sec"], samples = train["train/device/samples_per_sec"];
  BOOST_TEST(samples / batches == 8.0 / 5, boost::test_tools::tolerance(1e-9));  // after the first batch
  BOOST_TEST(validation.contains("validate/device/samples_per_sec"));
  ThroughputMonitor latest({.window_size = 2});
  fit_line(model, 1, {latest});
  const Logs last = latest.compute();
  BOOST_TEST(last["train/samples"] == 5);
  BOOST_TEST(last["train/device/samples_per_sec"] / last["train/device/batches_per_sec"] == 1,
             boost::test_tools::tolerance(1e-9));  // the last batch has one sample
  model.predict(column(xs), {.callbacks = {latest}});
  BOOST_TEST(latest.compute("predict")["predict/samples"] == 5);
  BOOST_TEST(refused<ValueError>([] { ThroughputMonitor({.window_size = 1}); }) ==
             "[ThroughputMonitor] window_size must be at least 2; got 1");
}

BOOST_AUTO_TEST_CASE(summaries) {
  Dense frozen({.units = 3, .name = "last", .trainable = false});
  Sequential model({Sequential({Dense({.units = 512, .name = "a"}), Dropout({.rate = 0.5})}), frozen});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.build({1, 4});
  const std::string bottom = "Trainable params: 2,560\nNon-trainable params: 1,539\nTotal params: 4,099 (16.0 KiB)\n";
  const std::string flat =
      "Name        Type        Params  Trainable\n"
      "-----------------------------------------\n"
      "sequential  Sequential   2,560  yes\n"
      "last        Dense        1,539  no\n";
  const std::string deep =
      "Name                Type        Params  Trainable\n"
      "-------------------------------------------------\n"
      "sequential          Sequential   2,560  yes\n"
      "sequential.a        Dense        2,560  yes\n"
      "sequential.dropout  Dropout          0  -\n"
      "last                Dense        1,539  no\n";
  BOOST_TEST(ModelSummary::text(model) == flat + bottom);
  BOOST_TEST(ModelSummary::text(model, 2) == deep + bottom);
  BOOST_TEST(ModelSummary::text(model, -1) == deep + bottom);
  const auto written = [&](const ModelSummaryOptions& options) {
    const CapturedOutput captured;
    model.fit(Tensor({1, 4}), Tensor({1, 3}), {.verbose = 0, .callbacks = {ModelSummary(options)}});
    return captured.text();
  };
  BOOST_TEST(written({}) == flat + bottom);
  BOOST_TEST(written({.max_depth = 2}) == deep + bottom);
  BOOST_TEST(written({.max_depth = 0}) == "");
  BOOST_TEST(refused<ValueError>([] { ModelSummary({.max_depth = -2}); }) ==
             "[ModelSummary] max_depth must be -1 or more; got -2");
}

BOOST_AUTO_TEST_CASE(numbers_of_accumulated_batches) {
  const GradientAccumulationScheduler scheduler({.scheduling = {{2, 4}, {5, 2}}});
  std::vector<int> numbers;
  for (int epoch = 0; epoch < 7; ++epoch) numbers.push_back(scheduler.accumulate_grad_batches(epoch));
  BOOST_TEST(numbers == (std::vector<int>{1, 1, 4, 4, 4, 2, 2}), boost::test_tools::per_element());
  BOOST_TEST(refused<ValueError>([] { GradientAccumulationScheduler({}); }) ==
             "[GradientAccumulationScheduler] scheduling must have entries; got none");
  BOOST_TEST(refused<ValueError>([] {
               GradientAccumulationScheduler({.scheduling = {{0, 0}}});
             }) == "[GradientAccumulationScheduler] scheduling must have epochs from 0 and numbers from 1; got 0: 0");
  BOOST_TEST(refused<ValueError>([] {
               GradientAccumulationScheduler({.scheduling = {{-1, 2}}});
             }) == "[GradientAccumulationScheduler] scheduling must have epochs from 0 and numbers from 1; got -1: 2");
}

BOOST_AUTO_TEST_SUITE_END()
