// A training that stops anywhere and is resumed equals one without interruption, bit for bit.
#include <boost/test/unit_test.hpp>

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
      }
      if (std::string(policy) == "mixed_float16") BOOST_TEST(all.history.at("skipped_steps").front() > 0);
    }
  }
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
  const auto choices = [&] {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = output.text().find("precision \"auto\" is ", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  BOOST_TEST(choices() == 1U);
  // Another choice than that of this machine, if it isn't this one by chance.
  Metadata metadata = SafetensorsFile(folder.path("c")).metadata();
  BOOST_TEST(metadata.count("precision") == 1U);
  metadata["precision"] = "mixed_bfloat16";
  const auto tensors = tensors_of(folder.path("c"));
  save_safetensors(folder.path("c"), NamedTensors(tensors.begin(), tensors.end()), metadata);
  fit(resumed, {}, folder.path("c"));
  BOOST_TEST(choices() == 1U);
  BOOST_TEST((resumed.model.layers().front()->compute_dtype() == DType::bfloat16));
}

BOOST_AUTO_TEST_SUITE_END()
