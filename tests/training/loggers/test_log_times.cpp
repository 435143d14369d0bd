// When loggers get numbers and write them, which the sanity check leaves alone, and the forms of the option `logger`.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "support/captured.hpp"
#include "support/environment.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) out.push_back(line.substr(0, line.find('\r')));
  return out;
}

Sequential compiled() {
  Sequential model = line(1);
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mae"});
  return model;
}

DataLoader three_batches() { return DataLoader(pairs({1, 2, 3}, {0, 0, 0}), {.batch_size = 1}); }

// Notes the number of rows of a file at the start of each batch and epoch.
class Rows : public Callback {
 public:
  Rows(std::string path, std::vector<std::size_t>* to) : path_(std::move(path)), to_(to) {}
  void on_train_batch_begin(std::int64_t, Logs&) override { to_->push_back(lines_of(path_).size()); }
  void on_train_end(Logs&) override { to_->push_back(lines_of(path_).size()); }

 private:
  std::string path_;
  std::vector<std::size_t>* to_;
};

// Notes what reaches callbacks, loggers and History when the sanity check ends.
class AfterSanity : public Callback {
 public:
  AfterSanity(std::string path, bool* seen) : path_(std::move(path)), seen_(seen) {}
  void on_sanity_check_end() override {
    *seen_ = true;
    BOOST_TEST(lines_of(path_).size() == 0U);
    BOOST_TEST(session().history().history.empty());
    BOOST_TEST(session().logs().size() == 0U);
  }

 private:
  std::string path_;
  bool* seen_;
};

class Names : public Logger {
 public:
  explicit Names(std::vector<std::string>* to) : to_(to) {}
  void log_metrics(const Logs& metrics, std::int64_t step) override {
    for (const auto& entry : metrics) to_->push_back(fmt::format("{} {}", step, entry.first));
  }

 private:
  std::vector<std::string>* to_;
};

// Logs numbers of each validation batch, too.
class StepLogging : public Module {
 public:
  StepLogging() : Module("StepLogging") {}
  Value training_step(const Batch& batch) override { return mean(dense_(batch["x"])) * 0; }
  void validation_step(const Batch& batch) override {
    log("val_loss", mean(batch["x"]), {.on_step = true, .on_epoch = true});
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0})}}; }

 private:
  Dense dense_ = sub("dense", Dense({.units = 1}));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(log_times)

BOOST_AUTO_TEST_CASE(csv_files_have_each_row_when_it_is_logged) {
  const Folder folder;
  const loggers::CSVLogger csv(folder.path(), {.version = 0});
  std::vector<std::size_t> rows;
  Sequential model = compiled();
  Trainer({.max_epochs = 2,
           .callbacks = {Rows(csv.log_dir() + "/metrics.csv", &rows)},
           .logger = {csv},
           .log_every_n_steps = 1,
           .enable_progress_bar = false})
      .fit(model, three_batches());
  // The header, a row for each step and one for each epoch.
  BOOST_TEST(rows == (std::vector<std::size_t>{0, 2, 3, 5, 6, 7, 9}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(epochs_with_few_batches_have_a_row_each_and_a_warning) {
  const Folder folder;
  const CapturedOutput output;
  const auto train = [&](const Loggers& logger, int every) {
    Sequential model = line(1);
    model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mae", .metrics = {"mse"}});
    Trainer({.max_epochs = 2, .logger = logger, .log_every_n_steps = every, .enable_progress_bar = false})
        .fit(model, three_batches(), three_batches());
  };
  const loggers::CSVLogger csv(folder.path(), {.version = 0});
  train(csv, 50);
  BOOST_TEST(lines_of(csv.log_dir() + "/metrics.csv") ==
                 (std::vector<std::string>{"epoch,loss_epoch,mse_epoch,step,val_loss,val_mse",
                                           "0,,,3,2.0,4.666666666666667", "0,2.0,4.666666666666667,3,,",
                                           "1,,,6,2.0,4.666666666666667", "1,2.0,4.666666666666667,6,,"}),
             boost::test_tools::per_element());
  const std::string warning =
      "mezzo: warning: [Trainer] fit: an epoch has 3 batches, and loggers get the numbers of single steps every 50 "
      "steps: set a lower log_every_n_steps to see those of each epoch\n";
  BOOST_TEST(output.text() == warning);
  train(loggers::JSONLogger(folder.path("json")), 3);
  train({}, 50);
  BOOST_TEST(output.text() == warning);  // no other
  const std::string refusal = refused<FileError>([&] { train(loggers::TensorBoardLogger("/proc/logs"), 50); });
  BOOST_TEST(refusal.find("[loggers::TensorBoardLogger] folder \"/proc/logs/") == 0U, refusal);
}

// As Keras' callback, which writes a row at the end of each epoch.
BOOST_AUTO_TEST_CASE(the_callback_has_each_row_at_the_end_of_its_epoch) {
  const Folder folder;
  std::vector<std::size_t> rows;
  Sequential model = compiled();
  Trainer({.max_epochs = 2,
           .callbacks = {CSVLogger(folder.path("log.csv")), Rows(folder.path("log.csv"), &rows)},
           .enable_progress_bar = false})
      .fit(model, three_batches());
  BOOST_TEST(rows == (std::vector<std::size_t>{0, 0, 0, 2, 2, 2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(numbers_of_the_sanity_check_reach_nothing) {
  const Folder folder;
  const loggers::CSVLogger csv(folder.path(), {.version = 0});
  std::vector<std::string> names;
  bool seen = false;
  StepLogging module;
  EarlyStopping stopping({.monitor = "val_loss", .patience = 0, .mode = "max"});
  ModelCheckpoint best({.dirpath = folder.path("best"), .monitor = "val_loss", .mode = "max"});
  const History history = Trainer({.max_epochs = 1,
                                   .num_sanity_val_steps = 2,
                                   .callbacks = {AfterSanity(csv.log_dir() + "/metrics.csv", &seen), stopping, best},
                                   .logger = {csv, Names(&names)},
                                   .enable_progress_bar = false})
                              .fit(module, three_batches(), DataLoader(pairs({3, 2, 1}, {0, 0, 0}), {.batch_size = 1}));
  BOOST_TEST(seen);
  // The mean of all three batches; that of the two of the sanity check is 2.5.
  BOOST_TEST(history["val_loss"] == (std::vector<double>{2}), boost::test_tools::per_element());
  BOOST_TEST(*best.best() == 2);
  BOOST_TEST(names == (std::vector<std::string>{"0 val_loss_step", "1 val_loss_step", "2 val_loss_step",
                                                "3 val_loss_epoch", "3 epoch"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_option_takes_bools_names_and_loggers) {
  const Folder folder;
  const auto files_of = [&](const Loggers& logger, const std::string& root) {
    Sequential model = compiled();
    Trainer({.max_epochs = 1,
             .logger = logger,
             .log_every_n_steps = 1,
             .enable_progress_bar = false,
             .default_root_dir = folder.path(root)})
        .fit(model, three_batches());
    std::vector<std::string> out;
    if (std::filesystem::exists(folder.path(root))) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path(root))) {
        if (!entry.is_directory()) out.push_back(entry.path().lexically_relative(folder.path(root)).string());
      }
    }
    return out;
  };
  BOOST_TEST(files_of(true, "on") == std::vector<std::string>{"mezzo_logs/version_0/metrics.csv"},
             boost::test_tools::per_element());
  BOOST_TEST(files_of(true, "on").size() == 2U);  // version_1
  BOOST_TEST(files_of(false, "off").empty());
  BOOST_TEST(files_of({}, "none").empty());
  BOOST_TEST(files_of(loggers::JSONLogger(folder.path("json")), "json") ==
                 std::vector<std::string>{"mezzo_logs/version_0/metrics.jsonl"},
             boost::test_tools::per_element());
  BOOST_TEST((Loggers("csv").size() == 1U && Loggers(std::string("tensorboard")).size() == 1U));
  BOOST_TEST((Loggers{"csv", loggers::JSONLogger(folder.path("other"))}.size() == 2U));
  BOOST_TEST(refused<NameError>([] { return TrainerOptions{.logger = "cvs"}; }) ==
             "unknown logger \"cvs\"; valid names: csv, json, tensorboard; nearest: \"csv\"");
  static_assert(!std::is_constructible_v<Loggers, std::nullptr_t> && !std::is_constructible_v<Loggers, int>);
}

BOOST_AUTO_TEST_CASE(barebones_and_trial_runs_have_no_standard_logger) {
  BOOST_TEST(refused<ValueError>([] { Trainer({.logger = true, .enable_progress_bar = false, .barebones = true}); }) ==
             "[Trainer] barebones excludes logger; got both");
  const Folder folder;
  Sequential model = compiled();
  Trainer({.fast_dev_run = 1, .logger = true, .enable_progress_bar = false, .default_root_dir = folder.path("root")})
      .fit(model, three_batches());
  BOOST_TEST(!std::filesystem::exists(folder.path("root/mezzo_logs")));
}

BOOST_AUTO_TEST_CASE(the_environment_gives_bools_too) {
  const auto of = [](const char* text) {
    const Environment variable("MEZZO_TRAINER_LOGGER", text);
    return TrainerOptions().logger;
  };
  BOOST_TEST(of("true").standard());
  BOOST_TEST(of("0").empty());
  BOOST_TEST(of("csv,json").size() == 2U);
  BOOST_TEST(!of("csv").standard());
}

BOOST_AUTO_TEST_SUITE_END()
