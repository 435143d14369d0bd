// Bars as callbacks, in pseudo-terminals and in files.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/refused.hpp"
#include "support/skip.hpp"
#include "support/terminal.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Waits after batches until a bar may be drawn again.
class Slow : public Callback {
 public:
  void on_train_batch_end(std::int64_t, Logs&) override { std::this_thread::sleep_for(pause); }
  void on_test_batch_end(std::int64_t, Logs&) override { std::this_thread::sleep_for(pause); }
  std::chrono::milliseconds pause{105};
};

struct Shown {
  Callbacks callbacks{};
  int epochs = 2;
  bool validates = false;
  bool enable_progress_bar = true;
};

void fit_shown(const Shown& shown) {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  const DataLoader data(pairs({1, 2, 3, 4, 5}, {2, 3, 7, 7, 12}), {.batch_size = 2});
  Trainer({.max_epochs = shown.epochs,
           .num_sanity_val_steps = 0,
           .callbacks = shown.callbacks,
           .enable_progress_bar = shown.enable_progress_bar})
      .fit(model, data, shown.validates ? data : DataLoader());
}

std::string in_terminal(unsigned short columns, const Shown& shown) {
  Terminal terminal(columns);
  fit_shown(shown);
  return terminal.text();
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++out;
  return out;
}

// Notes the numbers of a bar after each batch.
class NumbersOfBar : public ProgressBar {
 public:
  void on_train_batch_end(std::int64_t, Logs&) override { trained.push_back(get_metrics()); }
  void on_test_batch_end(std::int64_t, Logs&) override { validated.push_back(get_metrics()); }
  void on_epoch_end(int, Logs&) override { ended.push_back(get_metrics()); }
  std::vector<Logs> trained, validated, ended;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(progress_bars)

BOOST_AUTO_TEST_CASE(epochs_share_a_line_or_leave_one) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  for (const bool leave : {false, true}) {
    const std::string text = in_terminal(120, {.callbacks = {TQDMProgressBar({.leave = leave}), Slow()}});
    const Screen screen(120, text);
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST_REQUIRE(screen.rows() == (leave ? 3U : 2U));
      BOOST_TEST(screen.row(0).find(leave ? "Epoch 1/2: 100% 3/3" : "Epoch 2/2: 100% 3/3") == 0U);
      BOOST_TEST(screen.row(screen.rows() - 1) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_refresh_rate_counts_batches) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  const std::string text =
      in_terminal(120, {.callbacks = {TQDMProgressBar({.refresh_rate = 2, .leave = true}), Slow()}, .epochs = 1});
  BOOST_TEST(text.find("1/3") == std::string::npos);
  BOOST_TEST(count_of(text, " 2/3") == 1U);
  const std::string ends =
      in_terminal(120, {.callbacks = {TQDMProgressBar({.refresh_rate = 0, .leave = true}), Slow()}, .epochs = 1});
  BOOST_TEST(count_of(ends, "Epoch") == 1U);
  BOOST_TEST(count_of(ends, " 3/3") == 1U);
}

BOOST_AUTO_TEST_CASE(a_rich_bar_stays_in_its_lines) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  for (const unsigned short columns : {40, 80, 200}) {
    const std::string text = in_terminal(columns, {.callbacks = {RichProgressBar(), Slow()}, .validates = true});
    const Screen screen(columns, text);
    BOOST_TEST_CONTEXT(columns << " columns: " << text) {
      BOOST_TEST(screen.wrapped() == 0U);
      BOOST_TEST_REQUIRE(screen.rows() == 2U);  // the validation's line was removed
      BOOST_TEST(screen.row(0).find("Epoch 2/2") == 0U);
      BOOST_TEST(screen.row(0).find("3/3") != std::string::npos);
      BOOST_TEST((screen.row(0).find("val_loss: ") != std::string::npos) == (columns > 40));
      BOOST_TEST(screen.row(1) == "");
      const std::size_t at = text.find("Validation");
      BOOST_TEST_REQUIRE(at != std::string::npos);
      // During the first validation both lines were there.
      const Screen before(columns, text.substr(0, text.find('\r', at)));
      BOOST_TEST_REQUIRE(before.rows() == 2U);
      BOOST_TEST(before.row(0).find("Epoch 1/2") == 0U);
      BOOST_TEST(before.row(1).find("Validation") == 0U);
      BOOST_TEST(before.row(1).find("1/3") != std::string::npos);
      BOOST_TEST(text.find("\x1b[36m") != std::string::npos);
      BOOST_TEST((text.find("━") != std::string::npos) == (columns > 40));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rich_bar_may_leave_the_lines_of_epochs) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  const Screen screen(120, in_terminal(120, {.callbacks = {RichProgressBar({.leave = true}), Slow()}}));
  BOOST_TEST_REQUIRE(screen.rows() == 3U);
  BOOST_TEST(screen.row(0).find("Epoch 1/2") == 0U);
  BOOST_TEST(screen.row(1).find("Epoch 2/2") == 0U);
}

BOOST_AUTO_TEST_CASE(without_a_terminal_there_are_plain_lines) {
  for (const detail::CallbackHandle& bar : Callbacks{TQDMProgressBar(), RichProgressBar()}) {
    const CapturedOutput captured;
    fit_shown({.callbacks = {bar}});
    const std::string& text = captured.text();
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(count_of(text, "\n") == 2U);
      BOOST_TEST(text.find("Epoch 1/2: 100% 3/3 [") == 0U);
      BOOST_TEST(text.find('\x1b') == std::string::npos);
      BOOST_TEST(text.find('\r') == std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_bar_of_ones_own_replaces_the_other) {
  const CapturedOutput captured;
  NumbersOfBar bar;
  fit_shown({.callbacks = {bar}, .epochs = 1, .validates = true});
  BOOST_TEST(captured.text() == "");
  BOOST_TEST_REQUIRE(bar.trained.size() == 3U);
  BOOST_TEST(bar.trained[0].size() == 1U);
  BOOST_TEST(bar.trained[0]["loss"] == squared_error(0.5, {1, 2}, {2, 3}), boost::test_tools::tolerance(1e-5));
  BOOST_TEST_REQUIRE(bar.validated.size() == 3U);
  BOOST_TEST(bar.validated[0]["loss"] > 0);
  BOOST_TEST_REQUIRE(bar.ended.size() == 1U);
  BOOST_TEST(bar.ended[0]["val_loss"] == bar.validated[2]["loss"]);
}

BOOST_AUTO_TEST_CASE(evaluations_and_keras_verbs_show_it_too) {
  Sequential model = line(0.5);
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = column({1, 2, 3}), y = column({2, 3, 4});
  const DataLoader data(pairs({1, 2, 3}, {2, 3, 4}), {.batch_size = 2});
  const CapturedOutput captured;
  model.fit(x, y, {.verbose = 0, .callbacks = {TQDMProgressBar()}});
  Trainer({.callbacks = {TQDMProgressBar()}}).validate(model, data);
  Trainer({.callbacks = {RichProgressBar()}}).predict(model, data);
  BOOST_TEST(captured.text().find("Epoch 1/1: 100% 1/1") == 0U);
  BOOST_TEST(captured.text().find("\nEvaluate: 100% 2/2") != std::string::npos);
  BOOST_TEST(captured.text().find("\nPredict: 100% 2/2") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(mistakes) {
  BOOST_TEST(refused<ValueError>([] { TQDMProgressBar({.refresh_rate = -1}); }) ==
             "[TQDMProgressBar] refresh_rate must be 0 or more; got -1");
  BOOST_TEST(refused<ValueError>([] { RichProgressBar({.refresh_rate = -2}); }) ==
             "[RichProgressBar] refresh_rate must be 0 or more; got -2");
  BOOST_TEST(refused<ValueError>([] { fit_shown({.callbacks = {RichProgressBar()}, .enable_progress_bar = false}); }) ==
             "[Trainer] enable_progress_bar = false excludes callbacks that are a ProgressBar; got one");
}

BOOST_AUTO_TEST_SUITE_END()
