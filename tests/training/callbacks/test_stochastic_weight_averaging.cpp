// Stochastic weight averaging, compared with tests/parity/recorded/lightning_callbacks.json.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"
#include "training/checkpoint_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;
using boost::test_tools::tolerance;
using Json = nlohmann::json;

namespace {

// Notes the learning rate of each step.
class Rates : public Callback {
 public:
  void on_train_batch_begin(std::int64_t, Logs&) override { rates.push_back(session().learning_rate()); }
  std::vector<double> rates;
};

void fit_line(Sequential& model, int epochs, const Callbacks& callbacks) {
  model.fit(column(xs), column(ys),
            {.batch_size = 2, .epochs = epochs, .verbose = 0, .callbacks = callbacks, .shuffle = false});
}

void check(const std::string& name, const StochasticWeightAveragingOptions& options) {
  const Json& record = recorded("lightning_callbacks").at(name);
  Sequential model = compiled_line();
  Rates rates;
  fit_line(model, 6, {StochasticWeightAveraging(options), rates});
  BOOST_TEST_CONTEXT(name) {
    BOOST_TEST(rates.rates == record.at("rates").get<std::vector<double>>(), tolerance(1e-9) << per_element());
    BOOST_TEST(weight_of(model) == record.at("weight").get<double>(), tolerance(1e-5));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stochastic_weight_averaging)

BOOST_AUTO_TEST_CASE(rates_and_weights_are_those_of_lightning) {
  check("swa", {.swa_lrs = 0.002, .swa_epoch_start = 3, .annealing_epochs = 3});
  check("swa_linear", {.swa_lrs = 0.03, .swa_epoch_start = 0.5, .annealing_epochs = 2, .annealing_strategy = "linear"});
  check("swa_at_once", {.swa_lrs = 0.03,
                        .swa_epoch_start = 1,
                        .annealing_epochs = 0,
                        .avg_fn = [](double average, double weight, std::int64_t count) {
                          return average + weight * static_cast<double>(count + 1);
                        }});
}

BOOST_AUTO_TEST_CASE(moving_statistics_are_those_of_an_epoch) {
  Sequential model({BatchNormalization({.momentum = 0.75, .name = "norm"}), Dense({.units = 1, .name = "line"})});
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  StochasticWeightAveraging averaging({.swa_lrs = 0.02, .swa_epoch_start = 1});
  std::vector<Tensor> starts;
  const LambdaCallback note({.on_epoch_begin = [&](int, Logs&) { starts = model.get_weights(); }});
  fit_line(model, 1, {averaging, LambdaCallback(note)});
  BOOST_TEST(averaging.n_averaged() == 1);
  std::map<std::string, double> found;
  for (const auto& [path, weight] : model.named_weights()) found[path] = weight.value().to_doubles().front();
  BOOST_TEST(found.at("norm/moving_mean") == (1.5 + 3.5 + 5) / 3, tolerance(1e-6));
  BOOST_TEST(found.at("norm/moving_variance") == (0.25 + 0.25 + 0) / 3, tolerance(1e-6));
  BOOST_TEST(found.at("line/kernel") == starts.at(4).item());  // the only epoch begins with these weights
}

BOOST_AUTO_TEST_CASE(a_resumed_training_ends_alike) {
  const Folder folder;
  const auto fit = [&](Run& run, int epochs, const std::string& from, const Callbacks& more) {
    seed_everything(3);
    Callbacks all{StochasticWeightAveraging({.swa_lrs = 0.002, .swa_epoch_start = 2, .annealing_epochs = 2})};
    all.insert(all.end(), more.begin(), more.end());
    Trainer({.max_epochs = epochs, .callbacks = all, .enable_progress_bar = false})
        .fit(run.model, Run::data(), {}, {.ckpt_path = from});
  };
  Run whole({}, Any<Optimizer>(Adam(0.01))), saved({}, Any<Optimizer>(Adam(0.01))),
      resumed({}, Any<Optimizer>(Adam(0.01)), 7);
  fit(whole, 4, "", {});
  fit(saved, 4, "", {ModelCheckpoint(folder.path("{epoch}-{batch}.ckpt"), {.save_freq = 2})});
  fit(resumed, 4, folder.path("3-2.ckpt"), {});
  BOOST_TEST(changed_since(values_of(whole.model), resumed.model) == "");
}

BOOST_AUTO_TEST_CASE(a_training_that_stops_early_keeps_its_weights) {
  Sequential model = compiled_line();
  double weight = 0;
  StochasticWeightAveraging averaging({.swa_lrs = 0.02, .swa_epoch_start = 1});
  fit_line(model, 3, {averaging, LambdaCallback({.on_epoch_end = [&](int, Logs&) {
                        weight = weight_of(model);
                        model.stop_training();
                      }})});
  BOOST_TEST(weight_of(model) == weight);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  const auto text = [](const StochasticWeightAveragingOptions& options) {
    return refused<ValueError>([&] { StochasticWeightAveraging averaging(options); });
  };
  const std::string label = "[StochasticWeightAveraging] ";
  BOOST_TEST(text({}) == label + "swa_lrs must be above 0; got 0");
  BOOST_TEST(text({.swa_lrs = 1, .swa_epoch_start = 0}) ==
             label + "swa_epoch_start must be an epoch from 1 or a share in [0, 1]; got 0");
  BOOST_TEST(text({.swa_lrs = 1, .swa_epoch_start = 1.5}) ==
             label + "swa_epoch_start must be an epoch from 1 or a share in [0, 1]; got 1.5");
  BOOST_TEST(text({.swa_lrs = 1, .annealing_epochs = -1}) == label + "annealing_epochs must be 0 or more; got -1");
  BOOST_TEST(refused<NameError>([] {
               StochasticWeightAveraging({.swa_lrs = 1, .annealing_strategy = "exp"});
             }).find("linear") != std::string::npos);
  Sequential model = compiled_line();
  BOOST_TEST(refused<ValueError>([&] {
               Trainer({.max_epochs = -1,
                        .max_steps = 3,
                        .callbacks = {StochasticWeightAveraging({.swa_lrs = 1})},
                        .enable_progress_bar = false})
                   .fit(model, DataLoader(pairs(xs, ys)));
             }) == label + "swa_epoch_start must be an epoch if the training has no last one; got a share");
}

BOOST_AUTO_TEST_SUITE_END()
