// Checkpoints that are saved inside of fit, backups, and event files of TensorBoard.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <mezzo/training/loggers/event_file.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"
#include "training/checkpoint_runs.hpp"
#include "training/event_messages.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

// A model with dropout, moving statistics and shuffled batches, whose rate and end depend on callbacks.
struct Training {
  Training() : run(Way{}, Any<Optimizer>(SGD({.learning_rate = 0.05, .momentum = 0.9}))) {
    run.model.compile({.optimizer = run.optimizer,
                       .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                       .metrics = {"accuracy"}});
  }

  History fit(const Callbacks& callbacks, std::optional<std::int64_t> steps = {}, int epochs = 5) {
    seed_everything(3);
    Callbacks all{ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 1, .min_delta = 0.05}),
                  EarlyStopping({.monitor = "loss", .patience = 9, .restore_best_weights = true})};
    all.insert(all.end(), callbacks.begin(), callbacks.end());
    return run.model.fit(Run::data(), {.epochs = epochs, .verbose = 0, .callbacks = all, .steps_per_epoch = steps});
  }

  // The numbers of the epochs that ran, with 17 digits.
  static std::string text(const History& history, std::size_t from = 0) {
    std::string out;
    for (const auto& [name, numbers] : history.history) {
      out += name;
      for (std::size_t i = from; i < numbers.size(); ++i) out += fmt::format(" {}", numbers[i]);
      out += "\n";
    }
    return out;
  }

  Run run;
};

void interrupt(Training& training, const Callbacks& callbacks, std::optional<std::int64_t> steps = {}) {
  BOOST_TEST(refused<ValueError>([&] { training.fit(callbacks, steps); }) == "interrupted");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saved_trainings)

BOOST_AUTO_TEST_CASE(a_checkpoint_of_every_hook_resumes_bit_for_bit) {
  const Folder folder;
  // Saves at hook number n of the training.
  class Saver : public Callback {
   public:
    Saver(std::string path, int when) : path_(std::move(path)), when_(when) {}
    bool saves() const override { return true; }
    void on_epoch_begin(int, Logs&) override { save(); }
    void on_epoch_end(int, Logs&) override { save(); }
    void on_train_batch_begin(std::int64_t, Logs&) override { save(); }
    void on_train_batch_end(std::int64_t, Logs&) override { save(); }

   private:
    void save() {
      if (++hooks_ == when_) session().save_checkpoint(path_);
    }
    std::string path_;
    int when_, hooks_ = 0;
  };
  Training whole;
  const History history = whole.fit({}, {}, 3);
  constexpr int hooks = 3 * 8;
  for (int when = 1; when <= hooks; ++when) {
    Training saved, resumed;
    const std::string path = folder.path("c");
    saved.fit({Saver(path, when)}, {}, 3);
    // Resumes through a callback, as BackupAndRestore does.
    class Resumer : public Callback {
     public:
      explicit Resumer(std::string path) : path_(std::move(path)) {}
      bool saves() const override { return true; }
      void on_train_begin(Logs&) override { session().resume(path_); }

     private:
      std::string path_;
    };
    const History rest = resumed.fit({Resumer(path)}, {}, 3);
    BOOST_TEST_CONTEXT("hook " << when) {
      const auto from = static_cast<std::size_t>(when == hooks ? 3 : (when - (when % 8 == 0 ? 0 : 1)) / 8);
      BOOST_TEST(changed_since(values_of(whole.run.model), resumed.run.model) == "");
      if (from < 3) BOOST_TEST(Training::text(rest) == Training::text(history, from));
    }
  }
}

BOOST_AUTO_TEST_CASE(backups_continue_after_an_error_bit_for_bit) {
  const CapturedOutput warnings;
  for (const std::optional<std::int64_t> steps : {std::optional<std::int64_t>(), std::optional<std::int64_t>(2)}) {
    for (const detail::Frequency& frequency :
         {detail::Frequency("epoch"), detail::Frequency(1), detail::Frequency(2)}) {
      const Folder folder;
      Training whole, training;
      const History history = whole.fit({}, steps);
      const BackupAndRestoreOptions options{.save_freq = frequency, .double_checkpoint = true};
      const auto backup = [&] { return BackupAndRestore(folder.path("backup"), options); };
      const std::int64_t end = 5 * steps.value_or(3);
      for (const std::int64_t step : {end / 3, 2 * end / 3, end - 1})
        interrupt(training, {Interruption(step), backup()}, steps);
      const History rest = training.fit({backup()}, steps);
      BOOST_TEST(changed_since(values_of(whole.run.model), training.run.model) == "");
      BOOST_TEST(Training::text(rest) == Training::text(history, static_cast<std::size_t>(rest.epoch.front())));
      BOOST_TEST(!std::filesystem::exists(folder.path("backup")));
    }
  }
}

BOOST_AUTO_TEST_CASE(backups_continue_after_a_kill) {
  const Folder folder;
  const auto backup = [&] { return BackupAndRestore(folder.path("b"), {.save_freq = 1}); };
  Training whole, resumed;
  const History history = whole.fit({});
  const pid_t child = fork();
  if (child == 0) {
    Training killed;
    const LambdaCallback kill({.on_train_batch_begin = [](std::int64_t batch, Logs&) {
      if (batch == 1) ::raise(SIGKILL);
    }});
    killed.fit({backup(), LambdaCallback(kill)});
    ::_exit(0);
  }
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(std::filesystem::exists(folder.path("b/latest.safetensors")));
  BOOST_TEST(Training::text(resumed.fit({backup()})) == Training::text(history));
  BOOST_TEST(changed_since(values_of(whole.run.model), resumed.run.model) == "");
}

BOOST_AUTO_TEST_CASE(a_damaged_backup_is_an_error_or_the_one_before_is_taken) {
  const Folder folder;
  const auto backup = [&](bool twice) {
    return BackupAndRestore(folder.path("b"), {.save_freq = 1, .double_checkpoint = twice});
  };
  Training whole, training;
  const History history = whole.fit({});
  interrupt(training, {Interruption(7), backup(true)});
  std::filesystem::resize_file(folder.path("b/latest.safetensors"), 100);
  BOOST_TEST(!refused<FileError>([&] { training.fit({backup(false)}); }).empty());
  const CapturedOutput captured;
  const History resumed = training.fit({backup(true)});
  BOOST_TEST(Training::text(resumed) == Training::text(history, static_cast<std::size_t>(resumed.epoch.front())));
  BOOST_TEST(captured.text().rfind("mezzo: warning: [BackupAndRestore] takes the backup before the last one: ", 0) ==
             0U);
  BOOST_TEST(changed_since(values_of(whole.run.model), training.run.model) == "");
}

BOOST_AUTO_TEST_CASE(a_backup_deletes_only_its_own_files) {
  const Folder folder;
  folder.write("b/mine", {1});
  Training training;
  training.fit({BackupAndRestore(folder.path("b"))}, {}, 1);
  BOOST_TEST(std::filesystem::exists(folder.path("b/mine")));
  BOOST_TEST(!std::filesystem::exists(folder.path("b/latest.safetensors")));
  training.fit({BackupAndRestore(folder.path("b"), {.delete_checkpoint = false})}, {}, 1);
  BOOST_TEST(std::filesystem::exists(folder.path("b/latest.safetensors")));
  BOOST_TEST(training.fit({BackupAndRestore(folder.path("b"))}, {}, 1).epoch.empty());  // it had ended
}

BOOST_AUTO_TEST_CASE(full_checkpoints_resume_with_a_trainer) {
  const Folder folder;
  const CapturedOutput warnings;
  const auto fit = [&](Run& run, int epochs, const std::string& file, const Callbacks& callbacks) {
    seed_everything(3);
    const Trainer trainer({.max_epochs = epochs, .callbacks = callbacks, .enable_progress_bar = false});
    return trainer.fit(run.model, Run::data(), {}, {.ckpt_path = file});
  };
  Run whole({}), saved({}), resumed({}, 7);
  const History history = fit(whole, 3, {}, {});
  fit(saved, 3, {}, {ModelCheckpoint(folder.path("{epoch}-{batch}.ckpt"), {.save_freq = 5})});
  const History rest = fit(resumed, 3, folder.path("2-2.ckpt"), {});
  BOOST_TEST(changed_since(values_of(whole.model), resumed.model) == "");
  BOOST_TEST(rest.history.at("loss") ==
                 std::vector<double>(history.history.at("loss").begin() + 1, history.history.at("loss").end()),
             per_element());
}

BOOST_AUTO_TEST_CASE(event_files_of_tensorboard) {
  BOOST_TEST(detail::crc32c("123456789") == 0xE3069283U);  // check value of CRC-32C
  const Folder folder;
  Sequential model = compiled_line(0.25);
  const History history =
      model.fit(column(xs), column(ys),
                {.batch_size = 2,
                 .epochs = 2,
                 .verbose = 0,
                 .callbacks = {TensorBoard(folder.path("logs"),
                                           {.histogram_freq = 2, .write_steps_per_second = true, .update_freq = 2})},
                 .validation_data = {{column({1}), column({2})}}});
  std::map<std::string, Message> train, validation;
  for (const auto& [name, message] : events_of(only_file(folder.path("logs/train")))) train[name] = message;
  for (const auto& [name, message] : events_of(only_file(folder.path("logs/validation")))) validation[name] = message;
  std::string names;
  for (const auto& entry : train) names += entry.first + ", ";
  BOOST_TEST(names ==
             "0 epoch_learning_rate, 0 epoch_loss, 0 epoch_steps_per_second, 0 line/kernel/histogram, 1 "
             "epoch_learning_rate, 1 epoch_loss, 1 epoch_steps_per_second, 2 batch_loss, 2 batch_steps_per_second, 4 "
             "batch_loss, 4 batch_steps_per_second, 6 batch_loss, 6 batch_steps_per_second, ");
  names.clear();
  for (const auto& entry : validation) names += entry.first + ", ";
  BOOST_TEST(names == "0 epoch_loss, 1 epoch_loss, 3 evaluation_loss_vs_iterations, 6 evaluation_loss_vs_iterations, ");
  const auto value = [](const std::map<std::string, Message>& all, const char* name) {
    return number<float>(all.at(name).find(2)->second);
  };
  BOOST_TEST(value(train, "0 epoch_learning_rate") == 0.25F);
  BOOST_TEST(value(train, "1 epoch_loss") == static_cast<float>(history.history.at("loss")[1]));
  BOOST_TEST(value(train, "6 batch_loss") == static_cast<float>(history.history.at("loss")[1]));
  BOOST_TEST(value(validation, "1 epoch_loss") == static_cast<float>(history.history.at("val_loss")[1]));

  detail::EventFile file(folder.path("h"), "[test]");
  file.histogram("h", Tensor({5}, std::vector<double>{0, 1, 2, 3, std::nan("")}), 1);
  file.flush();
  const auto events = events_of(only_file(folder.path("h")));
  const Message histogram = message_of(events.at(0).second.find(5)->second);
  std::vector<double> numbers;
  for (std::uint32_t field = 1; field <= 5; ++field) numbers.push_back(number<double>(histogram.find(field)->second));
  BOOST_TEST(numbers == (std::vector<double>{0, 3, 4, 6, 14}), per_element());  // min, max, count, sum, squares
  const std::string counts = histogram.find(7)->second;
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); i += 8) sum += number<double>(counts.substr(i, 8));
  BOOST_TEST(counts.size() == 30 * 8U);
  BOOST_TEST(sum == 4);
  BOOST_TEST(number<double>(counts.substr(0, 8)) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
