// The progress bar in pseudo-terminals.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <regex>
#include <thread>

#include "small.hpp"
#include "support/folder.hpp"
#include "support/skip.hpp"
#include "support/terminal.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Takes time in training or validation batches.
class Pause : public Callback {
 public:
  Pause(int train, int validation) : train_(train), validation_(validation) {}
  void on_train_batch_end(std::int64_t, Logs&) override { std::this_thread::sleep_for(train_); }
  void on_test_batch_end(std::int64_t, Logs&) override { std::this_thread::sleep_for(validation_); }

 private:
  std::chrono::milliseconds train_, validation_;
};

History fit(const Callbacks& callbacks, bool validates, int epochs = 1, const std::string& checkpoint = {}) {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse", .metrics = {"mae"}});
  const DataLoader data(pairs({1, 2, 3, 4, 5}, {2, 3, 7, 7, 12}), {.batch_size = 2});
  return Trainer({.max_epochs = epochs, .num_sanity_val_steps = 0, .callbacks = callbacks})
      .fit(model, data, validates ? data : DataLoader(), {.ckpt_path = checkpoint});
}

// The parts of a text between carriage returns, without what follows a line end, and without the code that clears the
// rest of the line.
std::vector<std::string> refreshes(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find('\r', at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find('\r', at + 1), text.size());
    std::string part = text.substr(at + 1, end - at - 1);
    if (const std::size_t code = part.find("\x1b[K"); code != std::string::npos) part.erase(code, 3);
    out.push_back(part);
    at = end;
  }
  return out;
}

double rate_in(const std::string& line) {
  std::smatch match;
  BOOST_TEST_REQUIRE(std::regex_search(line, match, std::regex(R"((\d+\.\d+)it/s)")), line);
  return std::stod(match[1]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(progress_terminal)

BOOST_AUTO_TEST_CASE(lines_fit_in_the_terminal) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  for (const int columns : {40, 80, 200}) {
    Terminal terminal(static_cast<unsigned short>(columns));
    fit({Pause(110, 110)}, true);
    const std::string text = terminal.text();
    BOOST_TEST_CONTEXT(columns << " columns: " << text) {
      const std::vector<std::string> parts = refreshes(text);
      BOOST_TEST(parts.size() >= 6U);  // after each batch of training and validation
      // The terminal gives "\r\n" for the end of the last line.
      BOOST_TEST(text.find('\n') == text.size() - 1);
      for (std::size_t i = 0; i + 2 < parts.size(); ++i) {
        BOOST_TEST(parts[i].rfind("Epoch 1/1: ", 0) == 0U);
        BOOST_TEST(parts[i].size() < static_cast<std::size_t>(columns));
      }
      const bool whole = text.find(", validation  33% 1/3]") != std::string::npos;
      BOOST_TEST(whole == (columns == 200));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_rate_is_that_of_the_training) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  Terminal terminal(200);
  const auto start = std::chrono::steady_clock::now();
  fit({Pause(5, 150)}, true);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<std::string> parts = refreshes(terminal.text());
  const double counted = 3 / rate_in(parts.at(parts.size() - 2));
  BOOST_TEST(counted <= 1.05 * (seconds - 3 * 0.15));  // the pauses in the validation don't count
}

BOOST_AUTO_TEST_CASE(batches_before_a_resume_do_not_count) {
  if (!Terminal::available()) return mezzo_tests::skip(Terminal::missing);
  class Saver : public Callback {
   public:
    explicit Saver(std::string path) : path_(std::move(path)) {}
    void on_train_batch_end(std::int64_t batch, Logs&) override {
      if (batch == 1) session().save_checkpoint(path_);
    }

   private:
    std::string path_;
  };
  const Folder folder;
  const std::string path = folder.path("a.ckpt");
  {
    Terminal quiet(80);
    fit({Saver(path)}, false);
  }
  Terminal terminal(200);
  fit({Pause(100, 0)}, false, 1, path);
  const std::string text = terminal.text();
  const std::vector<std::string> parts = refreshes(text);
  BOOST_TEST(text.find("100% 3/3") != std::string::npos);
  BOOST_TEST(rate_in(parts.at(parts.size() - 2)) <= 10.05);  // one batch, which takes a tenth of a second
}

BOOST_AUTO_TEST_SUITE_END()
