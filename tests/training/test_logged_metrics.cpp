// Metrics that a user's step logs: numbers of single batches and of epochs, for loggers, the progress bar and History.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <map>

#include "small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Lines = std::vector<std::string>;

std::string text_of(const Logs& metrics) {
  std::string line;
  for (const auto& [name, number] : metrics) line += fmt::format("{}={:.10g} ", name, number);
  return line;
}

class Received : public Logger {
 public:
  explicit Received(Lines* lines) : lines_(lines) {}
  void log_metrics(const Logs& metrics, std::int64_t) override { lines_->push_back(text_of(metrics)); }

 private:
  Lines* lines_;
};

// The largest target so far: no sum over samples, so that the number of a batch is no difference of two states.
class Largest : public Metric {
 public:
  Largest() : Metric("largest") { add_state(largest_, {}, -100); }
  Value result() const override { return largest_ * 2.0; }

 protected:
  void update(const Value& y_true, const Value&, const Value&) override {
    assign(largest_, maximum(largest_, cast(amax(y_true), DType::float64)));
  }

 private:
  Variable largest_{"largest"};
};

// Logs the mean and the largest of the targets.
class LogsTargets : public Module {
 public:
  explicit LogsTargets(LogOptions options, bool early = false)
      : Module("LogsTargets"), options_(std::move(options)), early_(early) {}

  Value training_step(const Batch& batch) override {
    log_both(batch);
    return mean(line_(batch["x"])) * 0;
  }
  void validation_step(const Batch& batch) override { log_both(batch); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0})}}; }

 private:
  void log_both(const Batch& batch) {
    const auto log_them = [&] {
      log("mean", mean_, options_);
      log("largest", largest_, options_);
    };
    if (early_) log_them();
    mean_.update_state(batch["y"], batch["y"]);
    largest_.update_state(batch["y"], batch["y"]);
    if (!early_) log_them();
  }

  LogOptions options_;
  bool early_;
  MeanMetricWrapper mean_{[](const Value& y, const Value&) { return reshape(y, {-1}); }};
  Largest largest_;
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
};

// Batches with the targets (5, 7), (1, 3), (2, 2).
DataLoader targets() { return DataLoader(pairs({1, 1, 1, 1, 1, 1}, {5, 7, 1, 3, 2, 2}), {.batch_size = 2}); }

TrainerOptions logging(Lines& lines, bool eager = false) {
  return {.max_epochs = 2,
          .num_sanity_val_steps = 0,
          .logger = {Received(&lines)},
          .log_every_n_steps = 1,
          .enable_progress_bar = false,
          .eager = eager};
}

// Notes the numbers of the progress bar after each batch.
class Bar : public Callback {
 public:
  explicit Bar(Lines* lines) : lines_(lines) {}
  void on_train_batch_end(std::int64_t, Logs&) override {
    Logs shown = session().progress_bar_metrics();
    lines_->push_back(fmt::format("{:.10g} {:.10g}", shown.at("mean"), shown.at("largest")));
  }

 private:
  Lines* lines_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(logged_metrics)

BOOST_AUTO_TEST_CASE(steps_have_the_numbers_of_their_batches_and_epochs_their_own) {
  const Lines epoch{"mean_step=6 largest_step=14 epoch={} ", "mean_step=2 largest_step=6 epoch={} ",
                    "mean_step=2 largest_step=4 epoch={} ", "mean_epoch=3.333333333 largest_epoch=14 epoch={} "};
  for (const bool eager : {false, true}) {
    for (const bool early : {false, true}) {
      LogsTargets module({.on_step = true, .on_epoch = true}, early);
      Lines lines;
      const History history = Trainer(logging(lines, eager)).fit(module, targets());
      Lines expected;
      for (const char* number : {"0", "1"}) {
        for (std::string line : epoch) expected.push_back(line.replace(line.find("{}"), 2, number));
      }
      std::erase_if(lines, [](const std::string& line) { return line.find("mean") == line.npos; });
      for (std::string& line : lines) {
        if (const auto loss = line.find("loss=0 "); loss != line.npos) line.erase(loss, 7);
      }
      BOOST_TEST(lines == expected, boost::test_tools::per_element());
      BOOST_TEST(history["largest"][1] == 14);
      BOOST_TEST(history["mean"][1] == 20.0 / 6, boost::test_tools::tolerance(1e-15));
    }
  }
}

BOOST_AUTO_TEST_CASE(steps_are_logged_by_default_in_training) {
  LogsTargets module({});
  Lines lines;
  Trainer(logging(lines)).fit(module, targets());
  BOOST_REQUIRE(lines.size() >= 3U);
  BOOST_TEST(lines[2] == "mean=2 largest=4 loss=0 epoch=0 ");
}

BOOST_AUTO_TEST_CASE(evaluations_have_the_numbers_of_their_batches) {
  LogsTargets module({.on_step = true, .on_epoch = true});
  Lines lines;
  const Logs logs = Trainer(logging(lines)).validate(module, targets());
  BOOST_TEST(lines == (Lines{"mean_step=6 largest_step=14 ", "mean_step=2 largest_step=6 ",
                             "mean_step=2 largest_step=4 ", "mean_epoch=3.333333333 largest_epoch=14 "}),
             boost::test_tools::per_element());
  BOOST_TEST(logs["largest"] == 14);
}

BOOST_AUTO_TEST_CASE(without_a_number_of_the_epoch_the_bar_shows_the_batch) {
  LogsTargets module({.prog_bar = true, .on_epoch = false});
  Lines lines, shown;
  TrainerOptions options = logging(lines);
  options.max_epochs = 1;
  options.callbacks = {Bar(&shown)};
  Trainer(options).fit(module, targets());
  BOOST_TEST(shown == (Lines{"6 14", "2 6", "2 4"}), boost::test_tools::per_element());
}

// As Keras' logs, which have the mean of the epoch so far.
BOOST_AUTO_TEST_CASE(metrics_of_compile_have_the_numbers_of_the_epoch_so_far) {
  Sequential model = line(0);
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mae", .metrics = {"mae"}});
  Lines lines;
  Trainer(logging(lines)).fit(model, targets());
  BOOST_REQUIRE(lines.size() >= 3U);
  BOOST_TEST(lines[1].find("mae_step=4 ") != std::string::npos, lines[1]);
}

BOOST_AUTO_TEST_SUITE_END()
