// Decisions, files and states of ModelCheckpoint in Lightning's form, EarlyStopping and OnExceptionCheckpoint, compared
// with tests/parity/recorded/lightning_callbacks.json.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include <mezzo/training/checkpoints/checkpoint.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"
#include "training/checkpoint_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using Json = nlohmann::json;

namespace fs = std::filesystem;

namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  if (!fs::exists(folder)) return out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

// Notes the files of a folder at the end of each epoch, after ModelCheckpoint.
class Listing : public Callback {
 public:
  explicit Listing(std::string folder) : folder_(std::move(folder)) {}
  bool saves() const override { return true; }
  void on_epoch_end(int, Logs&) override { files.push_back(files_in(folder_)); }
  std::vector<std::vector<std::string>> files;

 private:
  std::string folder_;
};

std::vector<double> sequence_of(const Json& record) {
  std::vector<double> out;
  for (const auto& text : record.at("sequence")) out.push_back(std::stod(text.get<std::string>()));
  return out;
}

History fit_line(Sequential& model, int epochs, const Callbacks& callbacks) {
  return model.fit(column(xs), column(ys),
                   {.batch_size = 2, .epochs = epochs, .verbose = 0, .callbacks = callbacks, .shuffle = false});
}

// Trains as often as the record says, and compares the files of all epochs and the results of the last training.
void check_files(const std::string& name, TopKCheckpointOptions options) {
  const Json& record = recorded("lightning_callbacks").at(name);
  const std::vector<double> numbers = sequence_of(record);
  const Folder folder;
  const CapturedOutput warnings;
  options.dirpath = folder.path("files");
  std::vector<std::vector<std::string>> files;
  BOOST_TEST_CONTEXT(name) {
    while (files.size() < record.at("files").size()) {
      ModelCheckpoint checkpoint(options);
      Listing listing(options.dirpath);
      Sequential model = compiled_line();
      fit_line(model, static_cast<int>(numbers.size()), {Feeder("score", numbers), checkpoint, listing});
      files.insert(files.end(), listing.files.begin(), listing.files.end());
      if (files.size() < record.at("files").size()) continue;
      BOOST_TEST(name_of(checkpoint.best_model_path()) == record.at("best").get<std::string>());
      BOOST_TEST(name_of(checkpoint.last_model_path()) == record.at("last").get<std::string>());
      BOOST_TEST(name_of(checkpoint.kth_best_model_path()) == record.at("kth").get<std::string>());
      std::map<std::string, double> models;
      for (const auto& [path, score] : checkpoint.best_k_models()) models[name_of(path)] = score;
      const bool same = models == record.at("models").get<std::map<std::string, double>>();
      BOOST_TEST(same);
      BOOST_TEST(checkpoint.best().has_value() == !record.at("score").is_null());
      if (checkpoint.best()) BOOST_TEST(*checkpoint.best() == record.at("score").get<double>());
    }
    const bool same = files == record.at("files").get<std::vector<std::vector<std::string>>>();
    BOOST_TEST(same, Json(files).dump());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lightning_checkpoints)

BOOST_AUTO_TEST_CASE(files_are_those_of_lightning) {
  check_files("checkpoint", {});
  check_files("checkpoint_all", {.filename = "{epoch:03d}", .save_top_k = -1});
  check_files("checkpoint_best", {.filename = "{epoch}-{score:.2f}", .monitor = "score", .mode = "min"});
  check_files("checkpoint_two",
              {.filename = "{epoch}", .monitor = "score", .save_last = true, .save_top_k = 2, .mode = "min"});
  check_files("checkpoint_max", {.filename = "e{epoch}", .monitor = "score", .save_top_k = 2, .mode = "max"});
  check_files("checkpoint_nan", {.filename = "{epoch}", .monitor = "score", .save_top_k = 2, .mode = "min"});
  check_files("checkpoint_plain",
              {.filename = "m{score:.1f}", .monitor = "score", .mode = "min", .auto_insert_metric_name = false});
  check_files("checkpoint_versions", {.filename = "same", .monitor = "score", .save_top_k = 2, .mode = "min"});
  check_files("checkpoint_replaced",
              {.filename = "same", .monitor = "score", .mode = "min", .enable_version_counter = false});
  check_files("checkpoint_epochs", {.save_top_k = -1, .every_n_epochs = 3});
  check_files("checkpoint_steps", {.save_top_k = -1, .every_n_train_steps = 5});
  check_files("checkpoint_none", {.save_last = true, .save_top_k = 0});
  check_files("checkpoint_link", {.filename = "{epoch}", .monitor = "score", .save_last = "link", .mode = "min"});
}

BOOST_AUTO_TEST_CASE(a_link_names_the_last_file) {
  const Folder folder;
  Sequential model = compiled_line();
  fit_line(model, 2, {ModelCheckpoint({.dirpath = folder.path(), .save_last = "link"})});
  BOOST_TEST(fs::read_symlink(folder.path("last.ckpt")).string() == "epoch=1-step=6.ckpt");
}

BOOST_AUTO_TEST_CASE(weights_or_checkpoints_are_saved) {
  const Folder folder;
  Sequential model = compiled_line();
  fit_line(model, 1,
           {ModelCheckpoint({.dirpath = folder.path(), .filename = "weights", .save_weights_only = true}),
            ModelCheckpoint({.dirpath = folder.path(), .filename = "all", .mode = "max", .every_n_epochs = 1})});
  Sequential other = line(0);
  other.load_weights(folder.path("weights.ckpt"));
  BOOST_TEST(weight_of(other) == weight_of(model));
  BOOST_TEST(refused<FileError>([&] { detail::Checkpoint(folder.path("weights.ckpt")); }) != "");
  BOOST_TEST(refused<FileError>([&] { detail::Checkpoint(folder.path("all.ckpt")); }) == "");
}

BOOST_AUTO_TEST_CASE(numbers_of_the_validation_are_waited_for) {
  const Folder folder;
  Sequential model = compiled_line();
  const auto validated = [&](const ModelCheckpoint&, Callbacks callbacks) {
    model.fit(column(xs), column(ys),
              {.batch_size = 2,
               .epochs = 2,
               .verbose = 0,
               .callbacks = std::move(callbacks),
               .validation_data = {{column({1}), column({2})}}});
  };
  ModelCheckpoint checkpoint({.dirpath = folder.path(),
                              .filename = "{step}",
                              .monitor = "val_loss",
                              .save_top_k = -1,
                              .every_n_train_steps = 2});
  validated(checkpoint, {checkpoint});
  BOOST_TEST(files_in(folder.path()) == (std::vector<std::string>{"step=3.ckpt", "step=6.ckpt"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(time_and_hooks_that_save) {
  const Folder folder;
  const auto saved = [&](const char* name, TopKCheckpointOptions options) {
    options.dirpath = folder.path(name);
    options.filename = "{step}";
    options.save_top_k = -1;
    Sequential model = compiled_line();
    fit_line(model, 1, {ModelCheckpoint(options)});
    return files_in(options.dirpath).size();
  };
  BOOST_TEST(saved("always", {.train_time_interval = std::chrono::nanoseconds(1)}) == 3U);
  BOOST_TEST(saved("never", {.train_time_interval = std::chrono::hours(9)}) == 0U);
  BOOST_TEST(saved("epoch", {.save_on_train_epoch_end = true}) == 1U);
  BOOST_TEST(saved("validation", {.save_on_train_epoch_end = false}) == 0U);  // there is no validation
}

BOOST_AUTO_TEST_CASE(validations_in_the_middle_of_epochs) {
  const Folder folder;
  const DataLoader data(pairs(xs, ys), {.batch_size = 1});
  const auto fit = [&](const Callbacks& callbacks, detail::CheckInterval interval, int every = 1) {
    Sequential model = compiled_line();
    return Trainer({.max_epochs = 2,
                    .val_check_interval = interval,
                    .check_val_every_n_epoch = every,
                    .callbacks = callbacks,
                    .enable_progress_bar = false})
        .fit(model, data, data);
  };
  const auto files = [&](const char* name, TopKCheckpointOptions options, detail::CheckInterval interval,
                         int every = 1) {
    options.dirpath = folder.path(name);
    options.filename = "{step}";
    options.monitor = "val_loss";
    options.save_top_k = -1;
    fit({ModelCheckpoint(options)}, interval, every);
    return files_in(options.dirpath);
  };
  using Names = std::vector<std::string>;
  BOOST_TEST(files("a", {}, 2) == (Names{"step=2.ckpt", "step=4.ckpt", "step=7.ckpt", "step=9.ckpt"}),
             boost::test_tools::per_element());
  BOOST_TEST(files("b", {.save_on_train_epoch_end = true}, 2) == (Names{"step=10.ckpt", "step=5.ckpt"}),
             boost::test_tools::per_element());
  BOOST_TEST(files("c", {}, 1.0, 2) == Names{"step=10.ckpt"}, boost::test_tools::per_element());

  // No number improves by 100, so that patience counts checks.
  EarlyStopping checks({.monitor = "val_loss", .min_delta = 100, .patience = 2});
  EarlyStopping epochs({.monitor = "val_loss", .min_delta = 100, .patience = 1, .check_on_train_epoch_end = true});
  fit({checks}, 2);
  BOOST_TEST(checks.stopped_epoch() == 1);
  BOOST_TEST(checks.wait() == 2);
  fit({epochs}, 2);
  BOOST_TEST(epochs.wait() == 1);
}

BOOST_AUTO_TEST_CASE(errors_leave_a_checkpoint) {
  const Folder folder;
  const CapturedOutput warnings;
  const auto interrupted = [&](const Callbacks& callbacks) {
    Callbacks all{Interruption(2)};
    all.insert(all.end(), callbacks.begin(), callbacks.end());
    Sequential model = compiled_line();
    BOOST_TEST(refused<ValueError>([&] { fit_line(model, 1, all); }) == "interrupted");
  };
  interrupted(
      {ModelCheckpoint({.dirpath = folder.path("a"), .filename = "{epoch}-{val_loss}", .save_on_exception = true}),
       ModelCheckpoint({.dirpath = folder.path("b"), .every_n_epochs = 2})});
  BOOST_TEST(files_in(folder.path("a")) == std::vector<std::string>{"epoch=0-step=2.ckpt"},
             boost::test_tools::per_element());
  BOOST_TEST(files_in(folder.path("b")).empty());

  OnExceptionCheckpoint rescue(folder.path("c"));
  BOOST_TEST(rescue.ckpt_path() == folder.path("c/on_exception.ckpt"));
  interrupted({rescue, OnExceptionCheckpoint(folder.path("c"), "other")});
  BOOST_TEST(files_in(folder.path("c")) == (std::vector<std::string>{"on_exception.ckpt", "other.ckpt"}),
             boost::test_tools::per_element());
  Sequential whole = compiled_line(), rest = compiled_line();
  const DataLoader data(pairs(xs, ys), {.batch_size = 2});
  const Trainer trainer({.max_epochs = 2, .enable_progress_bar = false});
  trainer.fit(whole, data);
  trainer.fit(rest, data, {}, {.ckpt_path = rescue.ckpt_path()});
  BOOST_TEST(weight_of(rest) == weight_of(whole));
  Sequential good = compiled_line();
  fit_line(good, 1, {rescue});
  BOOST_TEST(files_in(folder.path("c")) == std::vector<std::string>{"other.ckpt"}, boost::test_tools::per_element());
  BOOST_TEST(refused<ValueError>([&] { OnExceptionCheckpoint("folder", ""); }) ==
             "[OnExceptionCheckpoint] filename must not be empty");
}

BOOST_AUTO_TEST_CASE(files_are_remembered_by_checkpoints) {
  const Folder folder;
  const CapturedOutput captured;
  const std::vector<double> numbers{0.5, 0.7, 0.6, 0.4, 0.3, 0.2};
  const auto options = [&](const char* name) {
    return TopKCheckpointOptions{.dirpath = folder.path(name),
                                 .filename = "{epoch}",
                                 .monitor = "score",
                                 .save_last = true,
                                 .save_top_k = 2,
                                 .mode = "min"};
  };
  const auto fit = [&](int epochs, ModelCheckpoint& checkpoint, const std::string& from) {
    Sequential model = compiled_line();
    const Trainer trainer(
        {.max_epochs = epochs, .callbacks = {Feeder("score", numbers), checkpoint}, .enable_progress_bar = false});
    trainer.fit(model, DataLoader(pairs(xs, ys), {.batch_size = 2}), {}, {.ckpt_path = from});
  };
  ModelCheckpoint whole(options("whole")), first(options("parts")), second(options("parts"));
  fit(6, whole, "");
  fit(3, first, "");
  fit(6, second, folder.path("parts/last.ckpt"));
  BOOST_TEST(files_in(folder.path("parts")) == files_in(folder.path("whole")), boost::test_tools::per_element());
  BOOST_TEST(name_of(second.best_model_path()) == "epoch=5.ckpt");
  BOOST_TEST(second.best_k_models().size() == 2U);
  BOOST_TEST(second.best().value() == 0.2);

  ModelCheckpoint moved(options("moved"));
  fit(3, moved, folder.path("whole/last.ckpt"));
  BOOST_TEST(moved.best_model_path() == whole.best_model_path());
  BOOST_TEST(moved.best_k_models().empty());
  BOOST_TEST(captured.text().find("of its state only best_model_path is taken") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(messages_and_refused_options) {
  const Folder folder;
  const CapturedOutput captured;
  Sequential model = compiled_line();
  fit_line(model, 2,
           {Feeder("score", {0.5, 0.75}),
            ModelCheckpoint(
                {.dirpath = folder.path(), .filename = "a", .monitor = "score", .verbose = true, .mode = "min"})});
  BOOST_TEST(captured.text() == "Epoch 0, step 3: score is 0.50000 (best 0.50000), saving \"" + folder.path("a.ckpt") +
                                    "\"\nEpoch 1, step 6: score 0.75000 is not among the best 1\n");

  const auto text = [](const TopKCheckpointOptions& options) {
    return refused<ValueError>([&] { ModelCheckpoint checkpoint(options); });
  };
  BOOST_TEST(text({.save_top_k = -2}) == "[ModelCheckpoint] save_top_k must be -1 or more; got -2");
  BOOST_TEST(text({.save_top_k = 2}) == "[ModelCheckpoint] save_top_k must be -1, 0 or 1 without a monitor; got 2");
  BOOST_TEST(text({.every_n_epochs = -1}) == "[ModelCheckpoint] every_n_epochs must be 0 or more; got -1");
  BOOST_TEST(text({.every_n_train_steps = -1}) == "[ModelCheckpoint] every_n_train_steps must be 0 or more; got -1");
  BOOST_TEST(
      text({.every_n_train_steps = 1, .every_n_epochs = 1}) ==
      "[ModelCheckpoint] one of every_n_epochs, every_n_train_steps and train_time_interval may be given; got 2");
  BOOST_TEST(refused<NameError>([] { detail::SaveLast("copy"); }).find("link") != std::string::npos);
  BOOST_TEST(refused<NameError>([] { ModelCheckpoint({.monitor = "loss", .mode = "up"}); }) != "");
  Sequential other = compiled_line();
  BOOST_TEST(refused<ValueError>([&] {
               fit_line(other, 1, {ModelCheckpoint({.dirpath = folder.path(), .filename = "{lost}"})});
             }).find("unknown name \"lost\"; valid names: epoch, step, loss") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(early_stopping_decides_as_lightning_does) {
  const CapturedOutput warnings;
  const std::vector<std::pair<const char*, EarlyStoppingOptions>> cases{
      {"early", {.patience = 3, .check_finite = true}},
      {"early_patience", {.patience = 4, .check_finite = true}},
      {"early_nan", {.patience = 3, .check_finite = true}},
      {"early_nan_unchecked", {.patience = 3}},
      {"early_threshold", {.patience = 3, .stopping_threshold = 0.66}},
      {"early_threshold_max", {.patience = 9, .mode = "max", .stopping_threshold = 0.27}},
      {"early_divergence", {.patience = 9, .divergence_threshold = 4.0}}};
  for (const auto& [name, given] : cases) {
    const Json& record = recorded("lightning_callbacks").at(name);
    const std::vector<double> numbers = sequence_of(record);
    EarlyStoppingOptions options = given;
    options.monitor = "score";
    if (options.mode == "auto") options.mode = "min";
    EarlyStopping stopping(options);
    Sequential model = compiled_line();
    const History history = fit_line(model, static_cast<int>(numbers.size()), {Feeder("score", numbers), stopping});
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(history.epoch.size() == record.at("epochs").get<std::size_t>());
      BOOST_TEST(stopping.stopped_epoch() == record.at("stopped_epoch").get<int>());
      BOOST_TEST(stopping.wait() == record.at("wait").get<int>());
      BOOST_TEST(static_cast<int>(stopping.stopping_reason()) == record.at("reason").get<int>());
      BOOST_TEST(stopping.stopping_reason_message().empty() == (record.at("reason").get<int>() == 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(early_stopping_tells_why) {
  const CapturedOutput captured;
  Sequential model = compiled_line();
  EarlyStopping stopping({.monitor = "score", .patience = 5, .verbose = 1, .mode = "min", .stopping_threshold = 0.25});
  fit_line(model, 3, {Feeder("score", {0.5, 0.125, 0.1}), stopping});
  BOOST_TEST(stopping.stopping_reason_message() == "score is 0.125, beyond stopping_threshold 0.25");
  BOOST_TEST(captured.text() ==
             "[EarlyStopping] ended the training after epoch 2: score is 0.125, beyond stopping_threshold 0.25\n");
  BOOST_TEST(stopping.best().value() == 0.125);
  CallbackState state = stopping.state();
  EarlyStopping restored;
  Sequential other = compiled_line();
  fit_line(
      other, 1,
      {Feeder("val_loss", {1}), restored, LambdaCallback({.on_train_end = [&](Logs&) { restored.set_state(state); }})});
  BOOST_TEST((restored.stopping_reason() == EarlyStoppingReason::stopping_threshold));
  BOOST_TEST(restored.stopping_reason_message() == stopping.stopping_reason_message());
  BOOST_TEST(refused<ValueError>([&] { fit_line(other, 1, {EarlyStopping({.strict = true})}); }) ==
             "[EarlyStopping] monitor \"val_loss\" must be a logged number; got logs of loss");
}

BOOST_AUTO_TEST_SUITE_END()
