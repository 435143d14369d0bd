// Decisions, files and messages of Keras' callbacks, compared with tests/parity/recorded/callbacks.json.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;
using Json = nlohmann::json;

namespace {

std::vector<double> sequence_of(const Json& record) {
  std::vector<double> out;
  for (const auto& text : record.at("sequence")) out.push_back(std::stod(text.get<std::string>()));
  return out;
}

// Trains one epoch for each number, with `callback` after a Feeder.
History run(const std::string& monitor, const std::vector<double>& numbers, const Callbacks& callbacks,
            Sequential& model) {
  Callbacks all{Feeder(monitor, numbers)};
  all.insert(all.end(), callbacks.begin(), callbacks.end());
  return model.fit(column({1}), column({1}),
                   {.epochs = static_cast<int>(numbers.size()), .verbose = 0, .callbacks = all});
}

// Notes attributes of a callback after each epoch.
template <class C>
class Watcher : public Callback {
 public:
  explicit Watcher(const C& watched) : watched_(watched) {}
  void on_epoch_end(int, Logs& logs) override {
    waits.push_back(watched_.wait());
    bests.push_back(watched_.best());
    stops.push_back(session().stopping());
    rates.push_back(session().learning_rate());
    logged.push_back(detail::find_log(logs, "learning_rate"));
  }
  std::vector<int> waits;
  std::vector<std::optional<double>> bests, logged;
  std::vector<bool> stops;
  std::vector<double> rates;

 private:
  const C& watched_;
};

template <class C>
void check_rows(const std::string& name, C& callback) {
  const Json& record = recorded("callbacks").at(name);
  Sequential model = compiled_line(0.5);
  Watcher<C> watcher(callback);
  run(record.at("monitor"), sequence_of(record), {callback, watcher}, model);
  const Json& rows = record.at("rows");
  BOOST_TEST_CONTEXT(name) {
    BOOST_TEST_REQUIRE(watcher.waits.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Json& row = rows[i];
      BOOST_TEST(watcher.waits[i] == row.at("wait").get<int>());
      BOOST_TEST(watcher.stops[i] == row.at("stop").get<bool>());
      BOOST_TEST(watcher.bests[i].has_value() == !row.at("best").is_null());
      if (watcher.bests[i]) BOOST_TEST(*watcher.bests[i] == row.at("best").get<double>());
      BOOST_TEST(watcher.rates[i] == row.at("learning_rate").get<double>(), tolerance(1e-12));
      BOOST_TEST(watcher.logged[i].has_value() == !row.at("logged_rate").is_null());
      if (watcher.logged[i]) BOOST_TEST(*watcher.logged[i] == row.at("logged_rate").get<double>(), tolerance(1e-12));
    }
  }
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keras_callbacks)

BOOST_AUTO_TEST_CASE(early_stopping_decides_as_keras_does) {
  const CapturedOutput warnings;
  const std::vector<std::pair<const char*, EarlyStoppingOptions>> cases{
      {"early_defaults", {}},
      {"early_falling", {.patience = 2}},
      {"early_plateau", {.patience = 3}},
      {"early_late", {.patience = 4}},
      {"early_min_delta", {.min_delta = 0.006, .patience = 2}},
      {"early_baseline", {.patience = 3, .baseline = 0.4}},
      {"early_baseline_reached", {.patience = 3, .baseline = 0.55}},
      {"early_start", {.patience = 1, .start_from_epoch = 3}},
      {"early_max", {.monitor = "val_score", .patience = 2, .mode = "max"}},
      {"early_accuracy", {.monitor = "val_score", .min_delta = -0.05, .patience = 3, .mode = "max"}},
      {"early_nan", {.patience = 3}},
      {"early_restore", {.patience = 2, .restore_best_weights = true}}};
  for (const auto& [name, options] : cases) {
    EarlyStopping callback(options);
    check_rows(name, callback);
    BOOST_TEST(callback.stopped_epoch() == recorded("callbacks").at(name).at("stopped_epoch").get<int>());
    BOOST_TEST(callback.best_epoch() == recorded("callbacks").at(name).at("best_epoch").get<int>());
  }
}

BOOST_AUTO_TEST_CASE(reduce_lr_on_plateau_decides_as_keras_does) {
  const std::vector<std::pair<const char*, ReduceLROnPlateauOptions>> cases{
      {"plateau_defaults", {}},
      {"plateau_patience", {.factor = 0.5, .patience = 2}},
      {"plateau_cooldown", {.factor = 0.5, .patience = 1, .cooldown = 2}},
      {"plateau_min_lr", {.factor = 0.3, .patience = 1, .min_lr = 0.1}},
      {"plateau_min_delta", {.factor = 0.5, .patience = 2, .min_delta = 0.006}},
      {"plateau_patience_0", {.factor = 0.5, .patience = 0}},
      {"plateau_max", {.monitor = "val_score", .factor = 0.2, .patience = 2, .mode = "max"}},
      {"plateau_nan", {.factor = 0.5, .patience = 1}}};
  for (const auto& [name, options] : cases) {
    ReduceLROnPlateau callback(options);
    check_rows(name, callback);
  }
}

BOOST_AUTO_TEST_CASE(the_best_weights_are_restored) {
  Sequential model = compiled_line();
  std::vector<double> weights;
  EarlyStopping stopping({.patience = 2, .verbose = 1, .restore_best_weights = true});
  const CapturedOutput captured;
  const LambdaCallback note({.on_epoch_end = [&](int, Logs&) { weights.push_back(weight_of(model)); }});
  run("val_loss", {0.5, 0.4, 0.6, 0.7, 0.1}, {LambdaCallback(note), stopping}, model);
  BOOST_TEST(weights.size() == 4U);
  BOOST_TEST(weight_of(model) == weights.at(1));
  BOOST_TEST(weights.at(1) != weights.at(3));
  BOOST_TEST(captured.text() ==
             "[EarlyStopping] ended the training after epoch 4: no val_loss better than 0.4 in 2 checks\n"
             "[EarlyStopping] the weights are those of epoch 2\n");
}

BOOST_AUTO_TEST_CASE(checkpoints_are_saved_when_and_where_keras_saves_them) {
  const std::vector<std::pair<const char*, ModelCheckpointOptions>> cases{
      {"checkpoint", {}},
      {"checkpoint_best", {.save_best_only = true}},
      {"checkpoint_threshold", {.save_best_only = true, .initial_value_threshold = 0.45}},
      {"checkpoint_max", {.save_best_only = true, .mode = "max"}}};
  for (const auto& [name, options] : cases) {
    const Json& record = recorded("callbacks").at(name);
    const Folder folder;
    Sequential model = compiled_line();
    ModelCheckpointOptions own = options;
    own.save_weights_only = true;
    run("val_loss", sequence_of(record), {ModelCheckpoint(folder.path("a/{epoch:02d}_{val_loss:.3f}"), own)}, model);
    std::set<std::string> expected, found;
    for (const auto& file : record.at("files")) {
      if (file != "") expected.insert(file);
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("a"))) {
      found.insert(entry.path().filename().string());
    }
    BOOST_TEST(found == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(paths_options_and_messages_of_checkpoints) {
  const Folder folder;
  Sequential model = compiled_line();
  const CapturedOutput captured;
  const std::string path = folder.path("w{epoch}.safetensors");
  ModelCheckpoint best(path, {.verbose = 1, .save_best_only = true, .save_weights_only = true});
  run("val_loss", {0.5, 0.7, 0.25}, {best}, model);
  const std::string first = folder.path("w1.safetensors"), third = folder.path("w3.safetensors");
  BOOST_TEST(captured.text() ==
             "[ModelCheckpoint] epoch 1: val_loss is 0.50000, the best before none; saving " + first +
                 "\n[ModelCheckpoint] epoch 1: saved " + first +
                 "\n[ModelCheckpoint] epoch 2: val_loss is 0.70000, the best before 0.50000; not saved"
                 "\n[ModelCheckpoint] epoch 3: val_loss is 0.25000, the best before 0.50000; saving " +
                 third + "\n[ModelCheckpoint] epoch 3: saved " + third + "\n");
  BOOST_TEST(best.last_path() == third);
  BOOST_TEST(best.best().value() == 0.25);
  Sequential other = compiled_line();
  other.load_weights(third);
  BOOST_TEST(weight_of(other) == weight_of(model));

  model.fit(column(xs), column(ys),
            {.batch_size = 1,
             .epochs = 2,
             .verbose = 0,
             .callbacks = {ModelCheckpoint(folder.path("b{epoch}-{batch:03d}-{{x}}-{loss:.0e}"), {.save_freq = 4})}});
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    if (name[0] == 'b') names.insert(name.substr(0, 10));
  }
  BOOST_TEST(names == (std::set<std::string>{"b1-004-{x}", "b2-003-{x}"}), boost::test_tools::per_element());

  const auto text = [&](const std::string& bad) {
    return refused<ValueError>(
        [&] { model.fit(column({1}), column({1}), {.verbose = 0, .callbacks = {ModelCheckpoint(bad)}}); });
  };
  const std::string failed = "[ModelCheckpoint] filepath ";
  BOOST_TEST(text("{vloss}") == failed +
                                    "\"{vloss}\" can't be filled in: unknown name \"vloss\"; valid names: epoch, "
                                    "loss; nearest: \"loss\"");
  BOOST_TEST(text("{epoch") == failed + "\"{epoch\" can't be filled in: '}' expected after '{'");
  BOOST_TEST(text("{epoch:q}").rfind(failed + "\"{epoch:q}\" can't be filled in: \"q\" is no format of epoch: ", 0) ==
             0U);
  BOOST_TEST(text("{loss:.999999999f}") ==
             failed +
                 "\"{loss:.999999999f}\" can't be filled in: \".999999999f\" is no format of "
                 "loss: width and precision must be at most 255");
  BOOST_TEST(text("{epoch:9999999d}").find("width and precision must be at most 255") != std::string::npos);
  BOOST_TEST(
      refused<FileError>([] { ModelCheckpoint("s3://bucket/{epoch}.ckpt"); }) ==
      "[ModelCheckpoint] a path must be one of the file system; got the URL \"s3://bucket/{epoch}.ckpt\": mount the "
      "storage or copy the files");
  BOOST_TEST(
      text("x_{epoch}.h5") ==
      "[ModelCheckpoint] filepath must end in .mezzo or .keras (a whole model), or in .safetensors, .ckpt or the "
      "like (a checkpoint); got \"x_{epoch}.h5\"");
  BOOST_TEST(refused<FileError>([&] {
               model.fit(column({1}), column({1}), {.verbose = 0, .callbacks = {ModelCheckpoint(folder.path())}});
             }) == "[ModelCheckpoint] filepath must name a file; got the folder \"" + folder.path() + "\"");
}

BOOST_AUTO_TEST_CASE(csv_files_equal_keras_byte_by_byte) {
  const std::vector<std::pair<const char*, CSVLoggerOptions>> cases{{"csv", {}},
                                                                    {"csv_append", {.append = true}},
                                                                    {"csv_separator", {.separator = ";"}},
                                                                    {"csv_without_validation", {}}};
  // Logs of exactly these numbers.
  class Rows : public Callback {
   public:
    explicit Rows(Json rows) : rows_(std::move(rows)) {}
    void on_epoch_end(int epoch, Logs& logs) override {
      logs = Logs();
      for (const auto& [name, number] : rows_.at(static_cast<std::size_t>(epoch)).items()) {
        detail::set_log(logs, name, number.get<double>());
      }
    }

   private:
    Json rows_;
  };
  for (const auto& [name, options] : cases) {
    const Json& record = recorded("callbacks").at(name);
    const Folder folder;
    CSVLogger logger(folder.path("log.csv"), options);
    for (int fit = 0; fit < 2; ++fit) {
      Sequential model = compiled_line();
      model.fit(column({1}), column({1}),
                {.epochs = static_cast<int>(record.at("rows").size()),
                 .verbose = 0,
                 .callbacks = {Rows(record.at("rows")), logger}});
    }
    BOOST_TEST(content(folder.path("log.csv")) == record.at("text").get<std::string>());
  }
}

BOOST_AUTO_TEST_CASE(learning_rates_are_scheduled_by_epoch) {
  Sequential model = compiled_line(0.5);
  const CapturedOutput captured;
  const History history =
      model.fit(column({1}), column({1}),
                {.epochs = 3,
                 .verbose = 0,
                 .callbacks = {LearningRateScheduler(
                     [](int epoch, double rate) { return epoch == 0 ? rate : rate / 2; }, {.verbose = 1})}});
  BOOST_TEST(history.history.at("learning_rate") == (std::vector<double>{0.5, 0.25, 0.125}),
             boost::test_tools::per_element());
  BOOST_TEST(captured.text().find("[LearningRateScheduler] epoch 2: learning rate 0.25\n") != std::string::npos);
  const LearningRateScheduler by_epoch([](int epoch) { return 1.0 / (epoch + 1); });
  const LearningRateScheduler by_schedule(
      ExponentialDecay({.initial_learning_rate = 1, .decay_steps = 1, .decay_rate = 0.5}));
  const auto rates = [&](const LearningRateScheduler& one) {
    return model.fit(column({1}), column({1}), {.epochs = 2, .verbose = 0, .callbacks = {LearningRateScheduler(one)}})
        .history.at("learning_rate");
  };
  BOOST_TEST(rates(by_epoch) == (std::vector<double>{1, 0.5}), boost::test_tools::per_element());
  BOOST_TEST(rates(by_schedule) == (std::vector<double>{1, 0.5}), boost::test_tools::per_element());
  // A set rate is that of the next update.
  Sequential stepping = compiled_line(0.5);
  stepping.fit(column({1}), column({2}),
               {.verbose = 0, .callbacks = {LearningRateScheduler([](int) { return 0.25; })}});
  BOOST_TEST(weight_of(stepping) == stepped(0.5, 0.25, {1}, {2}), tolerance(1e-6));

  const auto text = [&](const LearningRateScheduler& one, Sequential& of) {
    return refused<ValueError>(
        [&] { of.fit(column({1}), column({1}), {.verbose = 0, .callbacks = {LearningRateScheduler(one)}}); });
  };
  BOOST_TEST(text(LearningRateScheduler([](int) { return std::nan(""); }), model) ==
             "[LearningRateScheduler] schedule must return a finite number; got nan for epoch 0");
  BOOST_TEST(text(LearningRateScheduler([](int) { return -1.0; }), model).find("must not be negative; got -1") !=
             std::string::npos);
  Sequential scheduled = line(0.5);
  scheduled.compile({.optimizer = SGD({.learning_rate = CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 9})}),
                     .loss = "mse"});
  BOOST_TEST(text(by_epoch, scheduled) ==
             "[SGD] set_learning_rate: the learning rate is a Schedule, which a number can't replace; got 1");
}

BOOST_AUTO_TEST_CASE(wrong_options_and_missing_numbers_are_told) {
  Sequential model = compiled_line();
  const auto early = [&](const EarlyStoppingOptions& options) {
    return refused<Error>(
        [&] { model.fit(column({1}), column({1}), {.verbose = 0, .callbacks = {EarlyStopping(options)}}); });
  };
  BOOST_TEST(early({.mode = "maximum"}) ==
             "[EarlyStopping] unknown mode \"maximum\"; valid names: auto, min, max; nearest: \"max\"");
  BOOST_TEST(early({.patience = -1}) == "[EarlyStopping] patience must be 0 or more; got -1");
  BOOST_TEST(
      early({.monitor = "val_score"}) ==
      "[EarlyStopping] mode \"auto\" knows the names of Keras' losses and metrics and the metrics of the compiled "
      "model; got monitor \"val_score\", which needs mode \"min\" or \"max\"; nearest known name: \"val_f1_score\"");
  Sequential rated = line(0.5);
  rated.compile({.optimizer = "sgd", .loss = "mse", .metrics = {metrics::MeanSquaredError({.name = "quality"})}});
  const std::string misspelled = refused<ValueError>([&] {
    rated.fit(column({1}), column({1}), {.verbose = 0, .callbacks = {EarlyStopping({.monitor = "val_qualty"})}});
  });
  BOOST_TEST(misspelled.find("nearest known name: \"val_quality\"") != std::string::npos, misspelled);
  const auto plateau = [](const ReduceLROnPlateauOptions& options) {
    return refused<ValueError>([&] { ReduceLROnPlateau{options}; });
  };
  BOOST_TEST(plateau({.factor = 1}) == "[ReduceLROnPlateau] factor must be from 0 to below 1; got 1");
  BOOST_TEST(plateau({.cooldown = -2}) == "[ReduceLROnPlateau] cooldown must be 0 or more; got -2");
  BOOST_TEST(refused<ValueError>([] { CSVLogger("x", {.separator = ""}); }) ==
             "[CSVLogger] separator must be one character, no quote or line end; got \"\"");
  BOOST_TEST(refused<ValueError>([] { BackupAndRestore(""); }) == "[BackupAndRestore] backup_dir must not be empty");
  BOOST_TEST(refused<ValueError>([] { ModelCheckpoint("x", {.save_freq = 0}); }) ==
             "a frequency must be at least 1; got 0");
  BOOST_TEST(refused<NameError>([] { ModelCheckpoint("x", {.save_freq = "epochs"}); }) ==
             "unknown frequency \"epochs\"; valid names: epoch, batch; nearest: \"epoch\"");
}

BOOST_AUTO_TEST_SUITE_END()
