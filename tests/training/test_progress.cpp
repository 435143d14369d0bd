#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <regex>

#include "small.hpp"
#include "support/captured.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<double> xs{1, 2, 3, 4, 5}, ys{2, 3, 7, 7, 12};

Sequential compiled_line() {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse", .metrics = {"mae"}});
  return model;
}

/// Replaces times and rates, which differ from run to run, by `T` and `R`.
std::string without_times(const std::string& text) {
  const std::string times = std::regex_replace(text, std::regex(R"((\d+:)?\d\d:\d\d<(\d+:)?\d\d:\d\d)"), "T");
  return std::regex_replace(times, std::regex(R"(\d+\.\d\dit/s)"), "R");
}

class Quiet : public Module {
 public:
  Quiet() : Module("Quiet") {}
  Value training_step(const Batch& batch) override {
    const Value prediction = line_(batch["x"]);
    log("shown", prediction, {.prog_bar = true});
    log("hidden", prediction);
    return mean_squared_error(batch["y"], prediction);
  }
  void validation_step(const Batch& batch) override {
    log("val_shown", batch["x"], {.prog_bar = true});
    log("val_hidden", batch["x"]);
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0})}}; }

 private:
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(progress)

BOOST_AUTO_TEST_CASE(a_line_an_epoch_where_there_is_no_terminal) {
  Sequential model = compiled_line();
  const CapturedOutput captured;
  const History history = model.fit(column(xs), column(ys), {.batch_size = 2, .epochs = 2, .validation_split = 0.2});
  std::string expected;
  for (std::size_t epoch = 0; epoch < 2; ++epoch) {
    const auto at = [&](const char* name) { return history.history.at(name)[epoch]; };
    expected += fmt::format("Epoch {}/2: 100% 2/2 [T, R, loss={:.4g}, mae={:.4g}, val_loss={:.4g}, val_mae={:.4g}]\n",
                            epoch + 1, at("loss"), at("mae"), at("val_loss"), at("val_mae"));
  }
  BOOST_TEST(without_times(captured.text()) == expected);
}

BOOST_AUTO_TEST_CASE(only_what_is_for_the_bar_is_in_it) {
  Quiet module;
  const CapturedOutput captured;
  const DataLoader loader(pairs(xs, ys), {.batch_size = 2});
  Trainer({.max_steps = 2, .limit_train_batches = 2}).fit(module, loader, loader);
  BOOST_TEST(without_times(captured.text()) == "Epoch 1: 100% 2/2 [T, R, shown=1.25, loss=15.38, val_shown=3]\n");
}

BOOST_AUTO_TEST_CASE(verbose_2_prints_all_numbers) {
  class Telling : public Model {
   public:
    Telling() : Model("Telling") {}
    Value training_step(const Batch& batch) override {
      const Value prediction = (*this)(batch["x"]);
      log("hidden", prediction);
      return mean_squared_error(batch["y"], prediction);
    }
    void validation_step(const Batch& batch) override { log("hidden", batch["x"]); }

   protected:
    Value call(const Value& x) override { return line_(x); }

   private:
    Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
  };
  Telling model;
  model.compile({.optimizer = SGD({.learning_rate = 0})});
  const CapturedOutput captured;
  model.fit(column({1, 2}), column({3, 4}),
            {.epochs = 1, .verbose = 2, .validation_data = {column({4, 6}), column({0, 0})}});
  BOOST_TEST(without_times(captured.text()) == "Epoch 1/1: 100% 1/1 [T, R, loss=7.625, hidden=0.75, val_hidden=5]\n");
  model.evaluate(column({1, 2}), column({3, 4}), {.verbose = 2});
  BOOST_TEST(captured.text().find("hidden=1.5") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_line_of_an_evaluation_has_the_batches_of_all_its_loaders) {
  Sequential model = compiled_line();
  const IterableDataset three({.fields = pairs(xs, ys).fields(), .function = [](std::int64_t) {
                                 return [left = 3]() mutable -> std::optional<std::vector<Tensor>> {
                                   if (left-- == 0) return std::nullopt;
                                   return std::vector<Tensor>{Tensor({1}), Tensor({1})};
                                 };
                               }});
  class Stops : public Callback {
   public:
    void on_test_batch_end(std::int64_t batch, Logs&) override {
      if (batch == 1) session().stop();
    }
  };
  const DataLoader sized(pairs(xs, ys), {.batch_size = 2});
  const auto line_of = [&](const DataLoaders& loaders, Callbacks callbacks) {
    const CapturedOutput captured;
    callbacks.push_back(TQDMProgressBar());
    Trainer({.callbacks = callbacks}).validate(model, loaders);
    const std::string text = without_times(captured.text());
    return text.substr(0, text.find(" ["));
  };
  BOOST_TEST(line_of({sized, sized}, {}) == "Evaluate: 100% 6/6");
  BOOST_TEST(line_of({sized, DataLoader(three, {.batch_size = 1})}, {}) == "Evaluate: 6/?");
  BOOST_TEST(line_of({sized, sized}, {Stops()}) == "Evaluate:  33% 2/6");
}

BOOST_AUTO_TEST_CASE(nothing_is_printed_unless_asked_for) {
  Sequential model = compiled_line();
  std::string out, err;
  const CapturedOutput captured;
  {
    CapturedDescriptor stdout_text(1), stderr_text(2);
    model.fit(column(xs), column(ys), {.batch_size = 2, .epochs = 2, .verbose = false, .validation_split = 0.2});
    model.evaluate(column(xs), column(ys));
    model.predict(column(xs));
    const DataLoader loader(pairs(xs, ys));
    const Trainer trainer({.max_epochs = 1, .precision = "bf16", .enable_progress_bar = false});
    trainer.fit(model, loader, loader);
    trainer.validate(model, loader);
    trainer.test(model, loader);
    trainer.predict(model, loader);
    model.summary_text();
    model.explain();
    out = stdout_text.text();
    err = stderr_text.text();
  }
  BOOST_TEST(captured.text() == "");
  BOOST_TEST(out == "");
  BOOST_TEST(err == "");
}

BOOST_AUTO_TEST_CASE(without_a_sink_of_ones_own_it_goes_to_stderr) {
  Sequential model = compiled_line();
  CapturedDescriptor stdout_text(1), stderr_text(2);
  model.fit(column(xs), column(ys));
  const std::string out = stdout_text.text(), err = stderr_text.text();
  BOOST_TEST(out == "");
  BOOST_TEST(without_times(err).rfind("Epoch 1/1: 100% 1/1 [T, R, loss=", 0) == 0U);
}

BOOST_AUTO_TEST_CASE(many_shapes_are_warned_of_once) {
  Sequential model = line(0.5);
  const CapturedOutput captured;
  for (std::int64_t size = 1; size <= 8; ++size) model.predict(Tensor({size, 1}));
  BOOST_TEST(captured.text() == "");
  model.predict(Tensor({4, 1}));
  BOOST_TEST(captured.text() == "");
  for (std::int64_t size = 9; size <= 11; ++size) model.predict(Tensor({size, 1}));
  BOOST_TEST(captured.text() ==
             "mezzo: warning: more than 8 plans for one kind of step: what changes is \"x\" axis 0 (1, 9, ...); pad or "
             "bucket the data\n");
}

BOOST_AUTO_TEST_SUITE_END()
