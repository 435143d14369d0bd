#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "support/captured.hpp"
#include "support/refused.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

constexpr double rate = 0.01;
const std::vector<double> xs{1, 2, 3, 4}, ys{3, 5, 8, 9};

Sequential compiled(double weight = 1) {
  Sequential model = line(weight);
  model.compile({.optimizer = SGD({.learning_rate = rate}), .loss = "mse"});
  return model;
}

DataLoader loader(std::int64_t batch_size = 1, bool shuffle = false) {
  return DataLoader(pairs(xs, ys), {.batch_size = batch_size, .shuffle = shuffle});
}

// Counts events, and stops at a batch.
class Counter : public Callback {
 public:
  explicit Counter(int stops_at = -1) : stops_at_(stops_at) {}
  void on_train_batch_end(std::int64_t, Logs&) override {
    if (batches++ == stops_at_) session().stop();
  }
  void on_test_batch_end(std::int64_t, Logs&) override { ++(session().sanity_checking() ? sanity : validated); }
  void on_validation_end(Logs& logs) override {
    ++validations;
    BOOST_TEST(logs.contains("val_loss"));
    at.push_back(batches);
  }
  void on_epoch_end(int, Logs&) override { ++epochs; }
  int batches = 0, epochs = 0, sanity = 0, validated = 0, validations = 0;
  std::vector<int> at;

 private:
  int stops_at_;
};

// Keeps what it receives.
class Memory : public Logger {
 public:
  struct Kept {
    std::vector<std::pair<std::int64_t, Logs>> metrics;
    Hyperparameters parameters;
    std::string status;
    int graphs = 0;
  };
  explicit Memory(std::shared_ptr<Kept> kept) : kept_(std::move(kept)) {}
  void log_metrics(const Logs& metrics, std::int64_t step) override { kept_->metrics.emplace_back(step, metrics); }
  void log_hyperparams(const Hyperparameters& parameters) override { kept_->parameters = parameters; }
  void log_graph(Module&) override { ++kept_->graphs; }
  void finalize(const std::string& status) override { kept_->status = status; }

 private:
  std::shared_ptr<Kept> kept_;
};

double trained(TrainerOptions options, std::int64_t batch_size = 1) {
  Sequential model = compiled();
  options.enable_progress_bar = false;
  Trainer(std::move(options)).fit(model, loader(batch_size));
  return weight_of(model);
}

void run(Counter& counter, TrainerOptions options, bool validates = true) {
  Sequential model = compiled();
  options.enable_progress_bar = false;
  options.callbacks = {counter};
  Trainer(std::move(options)).fit(model, loader(), validates ? loader() : DataLoader());
}

// An environment variable, for its lifetime.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { ::unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(trainer_options)

BOOST_AUTO_TEST_CASE(limits_end_a_training_and_minima_hold_it) {
  Counter one, two, three, four, five;
  run(one, {.max_steps = 6}, false);
  BOOST_TEST(one.batches == 6);
  run(two, {.max_epochs = 3, .limit_train_batches = 2}, false);
  BOOST_TEST(two.batches == 6);
  BOOST_TEST(two.epochs == 3);
  run(three, {.max_epochs = 3, .limit_train_batches = 0.75}, false);
  BOOST_TEST(three.batches == 9);
  run(four, {.max_time = 1e-9}, false);
  BOOST_TEST(four.batches == 0);
  run(five, {.max_epochs = 3, .limit_train_batches = 0}, false);
  BOOST_TEST(five.batches == 0);

  Counter stopped(1), by_epochs(1), by_steps(1);
  run(stopped, {.max_epochs = 5}, false);
  BOOST_TEST(stopped.batches == 2);
  run(by_epochs, {.max_epochs = 5, .min_epochs = 2}, false);
  BOOST_TEST(by_epochs.batches == 8);
  run(by_steps, {.max_epochs = 5, .min_steps = 7}, false);
  BOOST_TEST(by_steps.batches == 7);
}

BOOST_AUTO_TEST_CASE(validation_runs_when_it_is_due) {
  Counter within, shares, rare, limited, cut, all;
  run(within, {.max_epochs = 1, .val_check_interval = 3});
  BOOST_TEST(within.at == (std::vector<int>{3}), boost::test_tools::per_element());
  run(shares, {.max_epochs = 2, .val_check_interval = 0.5});
  BOOST_TEST(shares.at == (std::vector<int>{2, 4, 6, 8}), boost::test_tools::per_element());
  run(rare, {.max_epochs = 4, .check_val_every_n_epoch = 2});
  BOOST_TEST(rare.at == (std::vector<int>{8, 16}), boost::test_tools::per_element());
  run(limited, {.max_epochs = 1, .limit_val_batches = 3, .num_sanity_val_steps = 1});
  BOOST_TEST(limited.validated == 3);
  BOOST_TEST(limited.sanity == 1);
  run(cut, {.max_steps = 3});
  BOOST_TEST(cut.validations == 0);
  BOOST_TEST(cut.sanity == 2);
  run(all, {.max_epochs = 1, .num_sanity_val_steps = -1});
  BOOST_TEST(all.sanity == 4);
  Counter none;
  BOOST_TEST(refused<ValueError>([&] { run(none, {.max_epochs = 1, .val_check_interval = 5}); }) ==
             "[Trainer] val_check_interval must be at most the 4 batches of an epoch; got 5");
}

BOOST_AUTO_TEST_CASE(accumulated_batches_make_one_update) {
  const double two = trained({.max_epochs = 1}, 2);
  BOOST_TEST(trained({.max_epochs = 1, .accumulate_grad_batches = 2}) == two, tolerance(1e-6));
  // The last update of an epoch has one batch, and is divided by 3 all the same.
  const double first = stepped(1, rate, {1, 2, 3}, {3, 5, 8});
  const double last = stepped(first, rate / 3, {4}, {9});
  BOOST_TEST(trained({.max_epochs = 1, .accumulate_grad_batches = 3}) == last, tolerance(1e-6));
  BOOST_TEST(trained({.max_steps = 1, .accumulate_grad_batches = 3}) == first, tolerance(1e-6));
  Sequential model = line(1);
  model.compile({.optimizer = SGD({.gradient_accumulation_steps = 2}), .loss = "mse"});
  BOOST_TEST(
      refused<ValueError>([&] { Trainer({.max_epochs = 1, .accumulate_grad_batches = 2}).fit(model, loader()); }) ==
      "[Trainer] accumulate_grad_batches must be 1 with an optimizer that has gradient_accumulation_steps; got 2 "
      "and 2");
}

BOOST_AUTO_TEST_CASE(gradients_are_clipped) {
  // The gradient of the first batch is 2 (1 - 3) = -4.
  BOOST_TEST(trained({.max_steps = 1}) == 1 + rate * 4, tolerance(1e-6));
  BOOST_TEST(trained({.max_steps = 1, .gradient_clip_val = 0.5}) == 1 + rate * 0.5, tolerance(1e-6));
  BOOST_TEST(trained({.max_steps = 1, .gradient_clip_val = 5}) == 1 + rate * 4, tolerance(1e-6));
  BOOST_TEST(
      trained({.max_steps = 1, .gradient_clip_val = 0.25, .gradient_clip_algorithm = "value"}) == 1 + rate * 0.25,
      tolerance(1e-6));
  const CapturedOutput none;
  BOOST_TEST(
      trained(
          {.max_steps = 1, .gradient_clip_val = 0.25, .gradient_clip_algorithm = "value", .precision = "16-mixed"}) ==
          1 + rate * 0.25,
      tolerance(1e-6));
  Sequential model = line(1);
  model.compile({.optimizer = SGD({.clipnorm = 1}), .loss = "mse"});
  BOOST_TEST(refused<ValueError>([&] {
               Trainer({.gradient_clip_val = 2}).fit(model, loader());
             }).rfind("[Trainer] gradient_clip_val must not be given with an optimizer that clips; got 2", 0) == 0U);
  BOOST_TEST(refused<ValueError>([] { Trainer({.max_epochs = 1, .gradient_clip_algorithm = "value"}); }) ==
             "[Trainer] gradient_clip_algorithm \"value\" needs gradient_clip_val, the bound; got none");
}

BOOST_AUTO_TEST_CASE(the_same_few_batches_are_taken_in_their_order) {
  const auto weight = [](const TrainerOptions& options, const DataLoader& data) {
    Sequential model = compiled();
    Trainer(options).fit(model, data);
    return weight_of(model);
  };
  double expected = 1;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const std::size_t i : {0U, 1U}) expected = stepped(expected, rate, {xs[i]}, {ys[i]});
  }
  const TrainerOptions options{.max_epochs = 2, .overfit_batches = 2, .enable_progress_bar = false};
  BOOST_TEST(weight(options, loader(1, true)) == expected, tolerance(1e-6));

  Counter counter;
  run(counter, {.max_epochs = 9, .fast_dev_run = 3});
  BOOST_TEST(counter.batches == 3);
  BOOST_TEST(counter.validated == 3);
  BOOST_TEST(counter.sanity == 0);
}

BOOST_AUTO_TEST_CASE(loggers_receive_steps_epochs_and_settings) {
  const auto kept = std::make_shared<Memory::Kept>();
  Sequential model = compiled();
  model.save_hyperparameters({{"width", 1}, {"rate", rate}, {"kind", "line"}, {"bias", false}});
  Trainer({.max_epochs = 2, .logger = {Memory(kept)}, .log_every_n_steps = 3, .enable_progress_bar = false})
      .fit(model, loader(), loader());
  BOOST_TEST(kept->status == "success");
  BOOST_TEST(kept->graphs == 1);
  BOOST_TEST((kept->parameters == model.hyperparameters()));
  BOOST_TEST(kept->parameters.size() == 4U);
  std::vector<std::string> texts;
  for (const auto& [step, logs] : kept->metrics) {
    std::string text = std::to_string(step);
    for (const auto& [name, number] : logs) text += " " + name + (name == "epoch" ? std::to_string(int(number)) : "");
    texts.push_back(text);
  }
  BOOST_TEST(texts == (std::vector<std::string>{"3 loss_step epoch0", "4 val_loss epoch0", "4 loss_epoch epoch0",
                                                "6 loss_step epoch1", "8 val_loss epoch1", "8 loss_epoch epoch1"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(anomalies_end_a_call_where_they_begin) {
  const double infinity = std::numeric_limits<double>::infinity();
  const DataLoader bad(pairs({infinity}, {1}));
  Sequential model = compiled();
  const Trainer plain({.enable_progress_bar = false}), strict({.enable_progress_bar = false, .detect_anomaly = true});
  BOOST_TEST(std::isinf(plain.validate(model, bad).at("loss")));
  BOOST_TEST(refused<ValueError>([&] { strict.validate(model, bad); }).find("\"loss\" must be finite") !=
             std::string::npos);
  BOOST_TEST(refused<ValueError>([&] {
               strict.predict(model, bad);
             }).find("detect_anomaly: \"output\" must be finite") != std::string::npos);
  const CapturedOutput warnings;
  const DataLoader large(pairs({60000}, {0}));  // its gradient overflows in float16 at the first scale
  Sequential half = compiled(1e-6);
  Trainer({.max_epochs = 1, .precision = "16-mixed", .enable_progress_bar = false}).fit(half, large);
  const Trainer strict_half(
      {.max_epochs = 1, .precision = "16-mixed", .enable_progress_bar = false, .detect_anomaly = true});
  BOOST_TEST(refused<ValueError>([&] { strict_half.fit(half, large); }).find("must be finite") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_environment_gives_defaults) {
  const Setting epochs("MEZZO_TRAINER_MAX_EPOCHS", "3"), limit("MEZZO_TRAINER_LIMIT_TRAIN_BATCHES", "0.5");
  const Setting time("MEZZO_TRAINER_MAX_TIME", "00:01:00:05"), flag("MEZZO_TRAINER_DETERMINISTIC", "true");
  Counter counter;
  run(counter, {}, false);
  BOOST_TEST(counter.batches == 6);
  BOOST_TEST(Trainer().options().max_time->seconds() == 3605);
  BOOST_TEST(Trainer().options().deterministic);
  BOOST_TEST(*Trainer({.max_epochs = 7}).options().max_epochs == 7);
  {
    const Setting bad("MEZZO_TRAINER_MAX_STEPS", "ten");
    BOOST_TEST(refused<ValueError>([] { Trainer(); }) ==
               "[Trainer] MEZZO_TRAINER_MAX_STEPS must be a whole number; got \"ten\"");
  }
  const Setting typo("MEZZO_TRAINER_MAX_EPOCH", "3");
  BOOST_TEST(refused<NameError>([] {
               Trainer();
             }).rfind("[Trainer] unknown environment variable \"MEZZO_TRAINER_MAX_EPOCH\"; valid", 0) == 0U);
}

BOOST_AUTO_TEST_CASE(options_that_exclude_one_another_are_errors) {
  const auto text = [](const TrainerOptions& options) {
    return refused<ValueError>([&] { Trainer trainer(options); });
  };
  BOOST_TEST(text({.max_epochs = 2, .min_epochs = 3}) == "[Trainer] min_epochs must be at most max_epochs, 2; got 3");
  BOOST_TEST(text({.deterministic = true, .adaptive_threads = true}) ==
             "[Trainer] deterministic excludes adaptive_threads; got both");
  BOOST_TEST(text({.callbacks = {ModelCheckpoint("x")}, .enable_checkpointing = false}) ==
             "[Trainer] enable_checkpointing = false excludes callbacks that save; got one");
  BOOST_TEST(text({.detect_anomaly = true, .barebones = true}) ==
             "[Trainer] barebones excludes detect_anomaly; got both");
  BOOST_TEST(text({.log_every_n_steps = 0}) == "[Trainer] log_every_n_steps must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { detail::BatchLimit(1.5); }) ==
             "[Trainer] a limit as a share of the batches must be in [0, 1]; got 1.5");
  BOOST_TEST(refused<ValueError>([] { detail::Duration("1:2:3"); }) ==
             "[Trainer] a time must have the form \"DD:HH:MM:SS\"; got \"1:2:3\"");
}

BOOST_AUTO_TEST_CASE(empty_options_are_the_defaults) {
  const Trainer trainer({});
  BOOST_TEST(trainer.options().max_epochs.value() == 1000);
  BOOST_TEST(
      refused<FileError>([] { Trainer({.default_root_dir = "s3://bucket/runs"}); }) ==
      "[Trainer] default_root_dir: a path must be one of the file system; got the URL \"s3://bucket/runs\": mount "
      "the storage or copy the files");
}

BOOST_AUTO_TEST_SUITE_END()
