// Averages in the model, checkpoints with them, and numbers that not all epochs have.
#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

Sequential averaged_line() {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0.01, .use_ema = true, .ema_momentum = 0.5}), .loss = "mse"});
  return model;
}

// Weights after each epoch of one step, and their averages.
struct AveragedRun {
  explicit AveragedRun(int epochs) {
    double w = 0.5, average = 0;
    for (int i = 0; i < epochs; ++i) {
      w = stepped(w, 0.01, xs, ys);
      average = i == 0 ? w : 0.5 * average + 0.5 * w;
      weights.push_back(w);
      averages.push_back(average);
    }
  }
  std::vector<double> weights, averages;
};

// Notes the weight at the end of each epoch, and throws or stops.
class Observer : public Callback {
 public:
  void on_epoch_end(int epoch, Logs&) override {
    seen.push_back(weight_of(module()));
    if (epoch == stop_after) session().stop();
    if (!path.empty()) session().save_checkpoint(path);
    if (epoch == throw_after) throw ValueError("interrupted");
  }
  void on_test_end(Logs&) override {
    if (throws_in_test) throw ValueError("interrupted");
  }
  std::vector<double> seen;
  int stop_after = -1, throw_after = -1;
  bool throws_in_test = false;
  std::string path;
};

FitOptions one_step_epochs(int epochs, const Callbacks& callbacks) {
  return {.batch_size = 5,
          .epochs = epochs,
          .verbose = 0,
          .callbacks = callbacks,
          .validation_data = {column(xs), column(ys)}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(swap_ema_weights)

BOOST_AUTO_TEST_CASE(averages_are_evaluated_and_weights_trained) {
  const AveragedRun expected(4);
  for (const bool on_epoch : {false, true}) {
    Sequential model = averaged_line();
    Observer observer;
    const History history =
        model.fit(column(xs), column(ys), one_step_epochs(4, {SwapEMAWeights({.swap_on_epoch = on_epoch}), observer}));
    for (std::size_t i = 0; i < 4; ++i) {
      BOOST_TEST(history["val_loss"][i] == squared_error(expected.averages[i], xs, ys), tolerance(1e-5));
      BOOST_TEST(observer.seen[i] == (on_epoch ? expected.averages : expected.weights)[i], tolerance(1e-5));
    }
    BOOST_TEST(weight_of(model) == expected.averages.back(), tolerance(1e-5));
  }
  Sequential model = averaged_line();
  model.fit(column(xs), column(ys), one_step_epochs(2, {}));
  model.set_weights({column({3}).reshape({1, 1})});
  const double loss = model.evaluate(column(xs), column(ys), {.callbacks = {SwapEMAWeights()}})["loss"];
  BOOST_TEST(loss == squared_error(AveragedRun(2).averages.back(), xs, ys), tolerance(1e-5));
  BOOST_TEST(weight_of(model) == 3);
  Sequential plain = compiled_line();
  BOOST_TEST(refused<ValueError>([&] { plain.fit(column(xs), column(ys), one_step_epochs(1, {SwapEMAWeights()})); }) ==
             "[SwapEMAWeights] an optimizer must have use_ema; got SGD");
}

BOOST_AUTO_TEST_CASE(weights_come_back_after_errors_and_stops) {
  const AveragedRun expected(3);
  for (const bool on_epoch : {false, true}) {
    Sequential model = averaged_line();
    Observer observer;
    (on_epoch ? observer.throw_after : observer.stop_after) = 0;
    observer.throws_in_test = !on_epoch;
    const Callbacks callbacks{observer, SwapEMAWeights(on_epoch)}, reversed{SwapEMAWeights(on_epoch), observer};
    BOOST_TEST(refused<ValueError>([&] {
                 model.fit(column(xs), column(ys), one_step_epochs(2, on_epoch ? reversed : callbacks));
               }) == "interrupted");
    BOOST_TEST(weight_of(model) == expected.weights[0], tolerance(1e-5));
    model.fit(column(xs), column(ys), one_step_epochs(1, {}));  // not refused
    BOOST_TEST(weight_of(model) == expected.averages[1], tolerance(1e-5));
  }
  Sequential model = averaged_line();
  Observer observer;
  observer.stop_after = 1;
  model.fit(column(xs), column(ys), one_step_epochs(9, {SwapEMAWeights(true), observer}));
  BOOST_TEST(observer.seen.size() == 2U);
  BOOST_TEST(weight_of(model) == expected.averages[1], tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(checkpoints_with_averages_in_the_model_resume) {
  const AveragedRun expected(3);
  const Folder folder;
  const std::string path = folder.path("at.safetensors");
  const auto train = [&](int epochs, bool saves, const std::string& from) {
    Sequential model = averaged_line();
    Observer observer;
    if (saves) observer.path = path;
    const Trainer trainer(
        {.max_epochs = epochs, .callbacks = {SwapEMAWeights(true), observer}, .enable_progress_bar = false});
    trainer.fit(model, DataLoader(pairs(xs, ys), {.batch_size = 5}), {}, {.ckpt_path = from});
    return weight_of(model);
  };
  train(2, true, "");
  // The file has the weights and, as states of the optimizer, the averages.
  Sequential loaded = line(0);
  loaded.load_weights(path);
  BOOST_TEST(weight_of(loaded) == expected.weights[1], tolerance(1e-5));
  BOOST_TEST(train(3, false, path) == train(3, false, ""));
  BOOST_TEST(train(3, false, "") == expected.averages[2], tolerance(1e-5));
  Sequential other({Dense({.units = 2, .use_bias = false, .name = "other"})});
  other.build({1, 1});
  BOOST_TEST(refused<FileError>([&] { other.load_weights(path); }) ==
             "[safetensors \"" + path +
                 "\"] does not fit [Sequential]: missing tensor \"other.weight\"; unexpected tensor "
                 "\"line.weight\"");
}

BOOST_AUTO_TEST_CASE(a_history_knows_epochs_of_rare_numbers) {
  Sequential model = compiled_line();
  const History history =
      model.fit(column(xs), column(ys),
                {.epochs = 5, .verbose = 0, .validation_data = {column(xs), column(ys)}, .validation_freq = 2});
  BOOST_TEST(history.epochs_of("val_loss") == (std::vector<int>{1, 3}), boost::test_tools::per_element());
  BOOST_TEST(history.epochs_of("loss") == history.epoch, boost::test_tools::per_element());
  const std::string chart = LineChart(history).svg();
  BOOST_TEST(chart.find("val_loss, epoch 3: ") != std::string::npos);
  BOOST_TEST(chart.find("val_loss, epoch 2: ") == std::string::npos);
  BOOST_TEST(refused<NameError>([&] { history.epochs_of("acc"); }) ==
             "[History] unknown name \"acc\"; valid names: loss, val_loss");
}

BOOST_AUTO_TEST_CASE(empty_braces_are_accepted) {
  FitOptions options;
  options.sample_weight = {};
  BOOST_TEST(options.sample_weight.empty());
  BOOST_TEST((Input({}).shape() == Shape{-1}));
}

BOOST_AUTO_TEST_SUITE_END()
