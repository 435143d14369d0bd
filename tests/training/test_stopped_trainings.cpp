// A training that stops anywhere and is resumed equals one without interruption, bit for bit.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include <mezzo/core/parallel.hpp>

#include "stopped_training.hpp"
#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

enum class Stop { in_the_middle, in_a_window, at_the_end, in_validation };

// Saves a checkpoint in the second epoch and ends the training with an error.
class Stopper : public Callback {
 public:
  Stopper(Stop stop, std::string path) : stop_(stop), path_(std::move(path)) {}
  bool saves() const override { return true; }
  void on_train_batch_end(std::int64_t batch, Logs&) override {
    end_if((stop_ == Stop::in_the_middle && batch == 2) || (stop_ == Stop::in_a_window && batch == 4));
  }
  void on_epoch_end(int, Logs&) override { end_if(stop_ == Stop::at_the_end); }
  void on_test_batch_end(std::int64_t batch, Logs&) override { end_if(stop_ == Stop::in_validation && batch == 1); }

 private:
  void end_if(bool due) {
    if (!due || session().current_epoch() != 1) return;
    session().save_checkpoint(path_);
    throw ValueError("stopped");
  }

  Stop stop_;
  std::string path_;
};

// A resumed training ends as the whole one, and has its last numbers.
void check_rest(StoppedTraining& whole, const History& all, StoppedTraining& resumed, const History& rest, Stop stop) {
  BOOST_TEST(differences(whole, resumed) == "");
  BOOST_TEST(rest.epoch.front() == (stop == Stop::at_the_end ? 2 : 1));
  for (const auto& [name, numbers] : rest.history) {
    const std::vector<double>& expected = all.history.at(name);
    const auto skipped = static_cast<std::ptrdiff_t>(expected.size() - numbers.size());
    BOOST_TEST(numbers == std::vector<double>(expected.begin() + skipped, expected.end()), per_element());
  }
  BOOST_TEST_REQUIRE(resumed.lines->size() < whole.lines->size());
  const auto skipped = static_cast<std::ptrdiff_t>(whole.lines->size() - resumed.lines->size());
  BOOST_TEST(*resumed.lines == Lines(whole.lines->begin() + skipped, whole.lines->end()), per_element());
}

// Writes another choice of precision "auto" into a checkpoint.
void set_choice(const std::string& file, const char* policy) {
  Metadata metadata = SafetensorsFile(file).metadata();
  BOOST_TEST(metadata.count("precision") == 1U);
  metadata["precision"] = policy;
  const auto tensors = tensors_of(file);
  save_safetensors(file, NamedTensors(tensors.begin(), tensors.end()), metadata);
}

std::size_t count_in_text(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stopped_trainings)

BOOST_AUTO_TEST_CASE(stopped_anywhere_they_go_on_bit_for_bit) {
  const CapturedOutput warnings;
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    for (const bool schedule : {true, false}) {
      StoppedTraining whole(policy, schedule);
      const History all = whole.fit();
      for (const Stop stop : {Stop::in_the_middle, Stop::in_a_window, Stop::at_the_end, Stop::in_validation}) {
        StoppedTraining stopped(policy, schedule), resumed(policy, schedule);
        const std::string file = resumed.folder.path("stopped");
        BOOST_TEST(refused<ValueError>([&] { stopped.fit({Stopper(stop, file)}); }) == "stopped");
        const History rest = resumed.fit({}, file);
        BOOST_TEST_CONTEXT(policy << " schedule " << schedule << " stop " << static_cast<int>(stop)) {
          check_rest(whole, all, resumed, rest, stop);
        }
      }
      if (std::string(policy) == "mixed_float16") BOOST_TEST(all.history.at("skipped_steps").front() > 0);
    }
  }
}

// The choice depends on times. So the whole training is one that goes on from a checkpoint with a given choice.
BOOST_AUTO_TEST_CASE(stopped_under_auto_they_go_on_bit_for_bit) {
  const CapturedOutput output;
  const Folder folder;
  class FirstEpoch : public Callback {
   public:
    explicit FirstEpoch(std::string path) : path_(std::move(path)) {}
    bool saves() const override { return true; }
    void on_train_batch_end(std::int64_t batch, Logs&) override {
      if (batch != 1) return;
      session().save_checkpoint(path_);
      throw ValueError("stopped");
    }

   private:
    std::string path_;
  };
  const std::string start = folder.path("start");
  StoppedTraining first("auto", true);
  BOOST_TEST(refused<ValueError>([&] { first.fit({FirstEpoch(start)}, {}, false); }) == "stopped");
  for (const char* choice : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    set_choice(start, choice);
    StoppedTraining whole("auto", true);
    const History all = whole.fit({}, start, false);
    for (const Stop stop : {Stop::in_the_middle, Stop::in_a_window, Stop::at_the_end, Stop::in_validation}) {
      StoppedTraining stopped("auto", true), resumed("auto", true);
      const std::string file = resumed.folder.path("stopped");
      BOOST_TEST(refused<ValueError>([&] { stopped.fit({Stopper(stop, file)}, start, false); }) == "stopped");
      const History rest = resumed.fit({}, file, false);
      BOOST_TEST_CONTEXT(choice << " stop " << static_cast<int>(stop)) {
        check_rest(whole, all, resumed, rest, stop);
        BOOST_TEST((resumed.model.layers().front()->compute_dtype() == Policy(choice).compute_dtype()));
      }
    }
  }
  BOOST_TEST(count_in_text(output.text(), "precision \"auto\" is ") == 1U);
}

BOOST_AUTO_TEST_CASE(another_number_of_threads_is_told_once) {
  const Folder folder;
  StoppedTraining stopped("float32", true), same("float32", true), other("float32", true);
  const int threads = thread_count();
  refused<ValueError>([&] { stopped.fit({Stopper(Stop::in_the_middle, folder.path("c"))}); });
  const auto told = [&](StoppedTraining& training) {
    const CapturedOutput output;
    training.fit({}, folder.path("c"));
    std::size_t count = 0;
    const std::string text = fmt::format(
        "mezzo: warning: [Trainer] checkpoint \"{}\" was saved with {} threads, now there are {}: ", folder.path("c"),
        threads, thread_count());
    for (std::size_t at = 0; (at = output.text().find(text, at)) != std::string::npos; ++at) ++count;
    BOOST_TEST((output.text().find("threads") == std::string::npos) == (count == 0U), output.text());
    return count;
  };
  BOOST_TEST(told(same) == 0U);
  set_thread_count(threads + 1);
  BOOST_TEST(told(other) == 1U);
  set_thread_count(threads);
}

BOOST_AUTO_TEST_CASE(time_before_a_resume_counts) {
  static constexpr double spent = 0.02;
  // Spends time in the first step, and saves after it and after the fit.
  class Slow : public Callback {
   public:
    explicit Slow(std::string path) : path_(std::move(path)) {}
    bool saves() const override { return true; }
    void on_train_batch_begin(std::int64_t batch, Logs&) override {
      if (batch == 0) std::this_thread::sleep_for(std::chrono::duration<double>(spent));
    }
    void on_train_batch_end(std::int64_t batch, Logs&) override {
      if (batch == 0) session().save_checkpoint(path_);
    }

   private:
    std::string path_;
  };
  // Counts batches, and notes the time at the start.
  class Counter : public Callback {
   public:
    void on_train_begin(Logs&) override { seconds = session().seconds(); }
    void on_train_batch_end(std::int64_t, Logs&) override { ++batches; }
    double seconds = 0;
    int batches = 0;
  };
  const Folder folder;
  const auto fit = [&](Sequential& model, const Callbacks& callbacks, const std::optional<detail::Duration>& max_time,
                       const std::string& file) {
    Trainer({.max_epochs = 1, .max_time = max_time, .callbacks = callbacks, .enable_progress_bar = false})
        .fit(model, StoppedTraining::data(true), {}, {.ckpt_path = file});
  };
  for (const bool limited : {false, true}) {
    StoppedTraining training("float32", true);
    fit(training.model, {Slow(folder.path("c"))}, limited ? std::optional<detail::Duration>(3600.) : std::nullopt, {});
    Trainer::save_checkpoint(training.model, folder.path("end"));
    BOOST_TEST(std::stod(SafetensorsFile(folder.path("end")).metadata().at("training_seconds")) >= spent);
    Counter over, on;
    StoppedTraining first("float32", true), second("float32", true);
    fit(first.model, {over}, detail::Duration(spent), folder.path("c"));
    BOOST_TEST(over.batches == 0);
    BOOST_TEST(over.seconds >= spent);
    fit(second.model, {on}, detail::Duration(3600.), folder.path("c"));
    BOOST_TEST(on.batches == 5);
  }
}

BOOST_AUTO_TEST_CASE(the_choice_of_auto_is_kept) {
  const Folder folder;
  const auto fit = [&](StoppedTraining& training, const Callbacks& callbacks, const std::string& file) {
    seed_everything(3);
    Trainer({.max_epochs = 3, .precision = "auto", .callbacks = callbacks, .enable_progress_bar = false})
        .fit(training.model, StoppedTraining::data(true), {}, {.ckpt_path = file});
  };
  StoppedTraining stopped("float32", true), resumed("float32", true);
  const CapturedOutput output;
  refused<ValueError>([&] { fit(stopped, {Stopper(Stop::in_the_middle, folder.path("c"))}, {}); });
  const auto choices = [&] { return count_in_text(output.text(), "precision \"auto\" is "); };
  BOOST_TEST(choices() == 1U);
  // Another choice than that of this machine, if it isn't this one by chance.
  set_choice(folder.path("c"), "mixed_bfloat16");
  fit(resumed, {}, folder.path("c"));
  BOOST_TEST(choices() == 1U);
  BOOST_TEST((resumed.model.layers().front()->compute_dtype() == DType::bfloat16));
}

BOOST_AUTO_TEST_SUITE_END()
