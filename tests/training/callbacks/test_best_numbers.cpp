// Numbers that callbacks monitor: which is the best, and what happens if there is none.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <filesystem>
#include <limits>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Trains one epoch for each number, with `callbacks` after a Feeder.
void feed(const std::string& monitor, const std::vector<double>& numbers, const Callbacks& callbacks,
          Sequential& model) {
  Callbacks all{Feeder(monitor, numbers)};
  all.insert(all.end(), callbacks.begin(), callbacks.end());
  model.fit(column({1}), column({1}), {.epochs = static_cast<int>(numbers.size()), .verbose = 0, .callbacks = all});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(best_numbers)

// Keras warns after each epoch.
BOOST_AUTO_TEST_CASE(a_monitor_that_nothing_logs_is_an_error) {
  Sequential model = compiled_line();
  const auto text = [&](const Callbacks& callbacks, const FitOptions& given = {}) {
    FitOptions options = given;
    options.verbose = 0;
    options.callbacks = callbacks;
    return refused<ValueError>([&] { model.fit(column({1}), column({1}), options); });
  };
  const Folder folder;
  const std::string rest = "monitor \"val_mae\" must be a logged number; got logs of loss";
  const ModelCheckpointOptions best{.monitor = "val_mae", .save_best_only = true};
  ModelCheckpointOptions batches = best;
  batches.save_freq = 1;
  const TopKCheckpointOptions top{.dirpath = folder.path(), .monitor = "val_mae"};
  TopKCheckpointOptions steps = top;
  steps.every_n_train_steps = 1;
  BOOST_TEST(text({EarlyStopping({.monitor = "val_mae"})}) == "[EarlyStopping] " + rest);
  BOOST_TEST(text({ReduceLROnPlateau({.monitor = "val_mae"})}) == "[ReduceLROnPlateau] " + rest + ", learning_rate");
  BOOST_TEST(text({ModelCheckpoint(folder.path("a"), best)}) == "[ModelCheckpoint] " + rest);
  BOOST_TEST(text({ModelCheckpoint(folder.path("a"), batches)}) == "[ModelCheckpoint] " + rest);
  BOOST_TEST(text({ModelCheckpoint(top)}) == "[ModelCheckpoint] " + rest);
  BOOST_TEST(text({ModelCheckpoint(steps)}) == "[ModelCheckpoint] " + rest);
  BOOST_TEST(std::filesystem::is_empty(folder.path()));

  const FitOptions validates{.epochs = 2, .validation_data = {column({1}), column({1})}, .validation_freq = 2};
  BOOST_TEST(text({EarlyStopping({.monitor = "val_mae"})}, validates) == "[EarlyStopping] " + rest + ", val_loss");
  const CapturedOutput captured;
  EarlyStopping stopping;
  BOOST_TEST(text({stopping, ReduceLROnPlateau(),
                   ModelCheckpoint(folder.path("{epoch}-{val_loss:.0e}"), {.save_best_only = true})},
                  validates)
                 .empty());
  BOOST_TEST(stopping.best().has_value());
  BOOST_TEST(text({EarlyStopping({.monitor = "val_mae", .strict = false})}).empty());
  BOOST_TEST(captured.text() == "mezzo: warning: [EarlyStopping] " + rest + "\n");
}

BOOST_AUTO_TEST_CASE(auto_takes_the_direction_of_the_compiled_metric) {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0.0}),
                 .loss = "mse",
                 .metrics = {BinaryAccuracy({.name = "right"}), metrics::MeanAbsoluteError({.name = "auc"})}});
  const auto bests = [&](const std::string& monitor) {
    EarlyStopping stopping({.monitor = monitor, .patience = 9});
    feed(monitor, {0.5, 0.25, 0.75}, {stopping}, model);
    return stopping.best().value();
  };
  BOOST_TEST(bests("val_right") == 0.75);
  BOOST_TEST(bests("val_auc") == 0.25);
  BOOST_TEST(bests("val_mae") == 0.25);
}

// As in Keras, also where the loss's name is that of a metric which should rise.
BOOST_AUTO_TEST_CASE(auto_expects_that_losses_among_metrics_fall) {
  const auto best = [](const Metrics& metrics, const std::string& monitor) {
    Sequential model = line(0.5);
    model.compile({.optimizer = SGD({.learning_rate = 0.0}), .loss = "mse", .metrics = metrics});
    EarlyStopping stopping({.monitor = monitor, .patience = 9});
    feed(monitor, {0.5, 0.25, 0.75}, {stopping}, model);
    return stopping.best().value();
  };
  BOOST_TEST(best({losses::MeanSquaredError({.name = "quality"})}, "val_quality") == 0.25);
  BOOST_TEST(best({losses::CosineSimilarity()}, "val_cosine_similarity") == 0.25);
  BOOST_TEST(best({metrics::CosineSimilarity()}, "val_cosine_similarity") == 0.75);
  BOOST_TEST(best({"dice"}, "val_dice") == 0.25);
  BOOST_TEST(best({"mse"}, "val_mse") == 0.25);
  const auto function = [](const Value& y_true, const Value& y_pred) { return y_true - y_pred; };
  BOOST_TEST(refused<ValueError>([&] { best({function}, "val_metric"); }).find("needs mode \"min\" or \"max\"") !=
             std::string::npos);
}

// Keras takes the first number for the best, NaN too: nothing is better than NaN then.
BOOST_AUTO_TEST_CASE(any_number_beats_nan) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(!detail::beats(nan, {}, true));
  BOOST_TEST(!detail::beats(nan, nan, false));
  BOOST_TEST(detail::beats(infinity, nan, false));
  BOOST_TEST(!detail::beats(nan, infinity, false));
  Sequential model = compiled_line();
  const Folder folder;
  const std::vector<double> numbers{nan, 0.5, nan, 0.75};
  EarlyStopping stopping({.patience = 3});
  ReduceLROnPlateau reducing({.patience = 9});
  ModelCheckpoint best(folder.path("best{epoch}"), {.save_best_only = true});
  ModelCheckpoint top({.dirpath = folder.path("top"), .filename = "{epoch}", .monitor = "val_loss", .save_top_k = 2});
  feed("val_loss", numbers, {stopping, reducing, best, top}, model);
  BOOST_TEST(stopping.best().value() == 0.5);
  BOOST_TEST(stopping.best_epoch() == 1);
  BOOST_TEST(stopping.wait() == 2);
  BOOST_TEST(reducing.best().value() == 0.5);
  BOOST_TEST(best.last_path() == folder.path("best2"));
  BOOST_TEST(best.best().value() == 0.5);
  BOOST_TEST(top.best().value() == 0.5);
  BOOST_TEST(top.best_k_models().size() == 2U);
  BOOST_TEST(top.best_k_models().count(folder.path("top/epoch=3.ckpt")) == 1U);
  BOOST_TEST(top.best_model_path() == folder.path("top/epoch=1.ckpt"));

  const CapturedOutput warnings;
  ModelCheckpoint none({.dirpath = folder.path("none"), .filename = "{epoch}", .monitor = "val_loss"});
  feed("val_loss", {nan, nan}, {none}, model);
  BOOST_TEST(none.best_model_path().empty());
  feed("val_loss", {nan, infinity}, {none}, model);
  BOOST_TEST(none.best().value() == infinity);
}

BOOST_AUTO_TEST_CASE(early_stopping_counts_the_checks_of_one_epoch) {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0.0}), .loss = "mse"});
  EarlyStopping stopping({.patience = 2, .check_on_train_epoch_end = false});
  const DataLoader loader(pairs({1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}), {.batch_size = 1});
  const Trainer trainer({.max_epochs = 3,
                         .val_check_interval = 1,
                         .num_sanity_val_steps = 0,
                         .callbacks = {stopping},
                         .enable_progress_bar = false});
  const History history = trainer.fit(model, loader, loader);
  BOOST_TEST(history.epoch.size() == 1U);
  BOOST_TEST(stopping.wait() == 2);
  BOOST_TEST((stopping.stopping_reason() == EarlyStoppingReason::patience_exhausted));
}

BOOST_AUTO_TEST_CASE(a_callback_starts_anew_in_a_new_fit) {
  const Folder folder;
  const CapturedOutput warnings;
  ModelCheckpoint best(folder.path("{epoch}-{val_loss}"), {.save_best_only = true});
  ModelCheckpoint top({.dirpath = folder.path("top"), .filename = "{val_loss}", .monitor = "val_loss"});
  Sequential first = compiled_line(), second = compiled_line();
  feed("val_loss", {0.25}, {best, top}, first);
  ModelCheckpoint copy = best;
  feed("val_loss", {0.75}, {copy, top}, second);
  BOOST_TEST(copy.best().value() == 0.75);
  BOOST_TEST(copy.last_path() == folder.path("1-0.75"));
  BOOST_TEST(top.best().value() == 0.75);
  BOOST_TEST(top.best_k_models().size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
