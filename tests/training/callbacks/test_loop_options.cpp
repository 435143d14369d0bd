#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <regex>

#include <mezzo/training/loops/batch_bar.hpp>

#include "support/captured.hpp"
#include "support/refused.hpp"
#include "support/skip.hpp"
#include "support/terminal.hpp"
#include "training/callbacks/feeder.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;
using boost::test_tools::tolerance;

namespace {

std::size_t numbers(const History& history, const char* name) {
  const auto found = history.history.find(name);
  return found == history.history.end() ? 0 : found->second.size();
}

/// Replaces times and rates, which differ from run to run.
std::string without_times(const std::string& text) {
  const std::string times = std::regex_replace(text, std::regex(R"((\d+:)?\d\d:\d\d<(\d+:)?\d\d:\d\d)"), "T");
  return std::regex_replace(times, std::regex(R"(\d+\.\d\dit/s)"), "R");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loop_options)

BOOST_AUTO_TEST_CASE(epochs_count_from_initial_epoch) {
  Sequential model = compiled_line();
  const History history = model.fit(column(xs), column(ys), {.epochs = 5, .verbose = 0, .initial_epoch = 3});
  BOOST_TEST(history.epoch == (std::vector<int>{3, 4}), per_element());
  BOOST_TEST(model.fit(column(xs), column(ys), {.epochs = 2, .verbose = 0, .initial_epoch = 3}).epoch.empty());
  BOOST_TEST(refused<ValueError>([&] { model.fit(column(xs), column(ys), {.initial_epoch = -1}); }) ==
             "[Sequential] fit: initial_epoch must be 0 or more; got -1");
}

BOOST_AUTO_TEST_CASE(epochs_of_steps_continue_in_the_data) {
  // Batches of 5 samples: {1, 2}, {3, 4}, {5}, then again.
  Sequential model = compiled_line(0.01);
  double weight = 0.5;
  std::vector<double> losses;
  const std::vector<std::vector<double>> x{{1, 2}, {3, 4}, {5}}, y{{2, 3}, {7, 7}, {12}};
  for (std::size_t step = 0; step < 6; ++step) {
    const auto &a = x[step % 3], &b = y[step % 3];
    if (step % 2 == 0) losses.push_back(0);
    losses.back() += squared_error(weight, a, b) * static_cast<double>(a.size());
    weight = stepped(weight, 0.01, a, b);
  }
  const std::vector<double> samples{4, 3, 3};
  const History history = model.fit(
      column(xs), column(ys), {.batch_size = 2, .epochs = 3, .verbose = 0, .shuffle = false, .steps_per_epoch = 2});
  BOOST_TEST(weight_of(model) == weight, tolerance(1e-5));
  BOOST_TEST(history.epoch.size() == 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(history.history.at("loss")[i] == losses[i] / samples[i], tolerance(1e-5));
  }
  // More steps than batches: the data begins again within the epoch.
  Sequential longer = compiled_line(0.01);
  const DataLoader loader(pairs(xs, ys), {.batch_size = 2});
  longer.fit(loader, {.verbose = 0, .steps_per_epoch = 6});
  BOOST_TEST(weight_of(longer) == weight_of(model));
  BOOST_TEST(refused<ValueError>([&] { model.fit(loader, {.steps_per_epoch = 0}); }) ==
             "[Trainer] steps_per_epoch must be at least 1; got 0");
}

BOOST_AUTO_TEST_CASE(validation_takes_its_steps_and_its_epochs) {
  const DataLoader train(pairs({1}, {1})), loader(pairs(xs, ys), {.batch_size = 2});
  Sequential model = compiled_line(0);
  const auto fit = [&](const detail::ValidationFrequency& frequency, std::optional<std::int64_t> steps) {
    return model.fit(train, {.epochs = 6,
                             .verbose = 0,
                             .validation_data = loader,
                             .validation_steps = steps,
                             .validation_freq = frequency});
  };
  BOOST_TEST(numbers(fit(1, {}), "val_loss") == 6U);
  BOOST_TEST(numbers(fit(4, {}), "val_loss") == 1U);
  BOOST_TEST(numbers(fit({1, 2, 6}, {}), "val_loss") == 3U);
  BOOST_TEST(numbers(fit({7}, {}), "val_loss") == 0U);
  BOOST_TEST(fit(6, 2).history.at("val_loss")[0] == squared_error(0.5, {1, 2, 3, 4}, {2, 3, 7, 7}), tolerance(1e-6));
  const CapturedOutput captured;
  BOOST_TEST(fit(6, 9).history.at("val_loss")[0] == squared_error(0.5, xs, ys), tolerance(1e-6));
  BOOST_TEST(captured.text() ==
             "mezzo: warning: [Trainer] validation_steps is 9, but the data has 3 batches: all of them are taken\n");
  BOOST_TEST(refused<ValueError>([&] { fit(0, {}); }) == "validation_freq must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([&] { fit(1, 0); }) == "[Trainer] validation_steps must be at least 1; got 0");
  // Batches of the validation alone.
  std::int64_t batches = 0;
  class Counter : public Callback {
   public:
    explicit Counter(std::int64_t* count) : count_(count) {}
    void on_test_batch_end(std::int64_t, Logs&) override { ++*count_; }

   private:
    std::int64_t* count_;
  };
  model.fit(column(xs), column(ys),
            {.batch_size = 5,
             .verbose = 0,
             .callbacks = {Counter(&batches)},
             .validation_data = {{column(xs), column(ys)}},
             .validation_batch_size = 1});
  BOOST_TEST(batches == 5);
}

BOOST_AUTO_TEST_CASE(evaluate_and_predict_take_their_steps) {
  Sequential model = compiled_line();
  const DataLoader loader(pairs(xs, ys), {.batch_size = 2});
  const double expected = squared_error(0.5, {1, 2, 3, 4}, {2, 3, 7, 7});
  BOOST_TEST(model.evaluate(column(xs), column(ys), {.batch_size = 2, .steps = 2}).at("loss") == expected,
             tolerance(1e-6));
  BOOST_TEST(model.evaluate(loader, {.steps = 2}).at("loss") == expected, tolerance(1e-6));
  BOOST_TEST((model.predict(column(xs), {.batch_size = 2, .steps = 1}).shape() == Shape{2, 1}));
  BOOST_TEST((model.predict(loader, {.steps = 2}).shape() == Shape{4, 1}));
  BOOST_TEST(refused<ValueError>([&] { model.predict(loader, {.steps = 0}); }) ==
             "[Trainer] steps must be at least 1; got 0");
}

BOOST_AUTO_TEST_CASE(verbose_takes_numbers_bools_and_auto) {
  Sequential model = compiled_line();
  const auto text = [&](const detail::Verbose& verbose) {
    const CapturedOutput captured;
    model.fit(column({1}), column({1}), {.verbose = verbose});
    return without_times(captured.text()).substr(0, 26);
  };
  const std::string line = "Epoch 1/1: 100% 1/1 [T, R,";
  for (const detail::Verbose& verbose :
       {detail::Verbose(1), detail::Verbose(true), detail::Verbose("auto"), detail::Verbose(2)})
    BOOST_TEST(text(verbose) == line);
  BOOST_TEST(text(0).empty());
  BOOST_TEST(text(false).empty());
  BOOST_TEST(refused<ValueError>([&] { text(3); }) == "verbose must be 0, 1, 2 or \"auto\"; got 3");
  BOOST_TEST(refused<NameError>([&] { text("on"); }) == "unknown verbose \"on\"; valid names: auto");
  const CapturedOutput captured;
  model.evaluate(column(xs), column(ys), {.batch_size = 2, .verbose = 1});
  model.predict(column(xs), {.batch_size = 2, .verbose = 2});
  const std::string lines = without_times(captured.text());
  BOOST_TEST(lines.rfind("Evaluate: 100% 3/3 [T, R, loss=", 0) == 0U);
  BOOST_TEST(lines.find("]\nPredict: 100% 3/3 [T, R]\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(learning_rates_of_callbacks_are_in_the_line_of_the_epoch) {
  Sequential model = compiled_line(0.5);
  const CapturedOutput captured;
  model.fit(column({1}), column({1}), {.callbacks = {LearningRateScheduler([](int) { return 0.25; })}});
  BOOST_TEST(captured.text().find(", learning_rate=0.25]\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(on_a_terminal_the_line_fits_and_shows_the_validation) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  Sequential model = compiled_line();
  const auto shown = [&](unsigned short columns, int verbose) {
    Terminal terminal(columns);
    model.fit(column(xs), column(ys), {.verbose = verbose, .validation_data = {{column(xs), column(ys)}}});
    return terminal.text();
  };
  const std::string narrow = shown(20, 1);
  const std::regex refresh("\r([^\r\x1b]*)\x1b\\[K(?!\r?\n)");
  std::size_t refreshes = 0;
  for (std::sregex_iterator at(narrow.begin(), narrow.end(), refresh), end; at != end; ++at, ++refreshes) {
    BOOST_TEST((*at)[1].length() <= 19);
  }
  BOOST_TEST(refreshes >= 1U);
  BOOST_TEST(narrow.find("val_loss=") != std::string::npos);  // the last line is whole
  BOOST_TEST(shown(200, 2).find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(progress_of_a_validation_is_shown) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  Terminal terminal(200);
  {
    detail::BatchBar bar(1, {}, 4);
    bar.begin("Epoch 1/1");
    bar.show(4, {{"loss", 0.5}});
    const detail::BatchBar::Rest rest(bar, 4, {{"loss", 0.5}});
    bar.show_evaluation(1, 2, {});
  }
  const std::string text = without_times(terminal.text());
  BOOST_TEST(text.find("Epoch 1/1: 100% 4/4 [T, R, loss=0.5, validation  50% 1/2]") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
