// Averages of weights, compared with tests/parity/recorded/lightning_callbacks.json.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"
#include "training/checkpoint_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;
using Json = nlohmann::json;

namespace {

// Notes the weight during validations, and after training batches.
class Weights : public Callback {
 public:
  void on_test_batch_end(std::int64_t, Logs&) override { validated.push_back(weight_of(module())); }
  void on_train_batch_end(std::int64_t, Logs&) override { trained.push_back(weight_of(module())); }
  std::vector<double> validated, trained;
};

Weights fit_line(Sequential& model, const Callbacks& callbacks, int epochs = 3) {
  Weights weights;
  Callbacks all = callbacks;
  all.emplace_back(weights);
  model.fit(column(xs), column(ys),
            {.batch_size = 2,
             .epochs = epochs,
             .verbose = 0,
             .callbacks = all,
             .validation_data = {{column({1}), column({2})}},
             .shuffle = false});
  return weights;
}

template <class C>
void check(const std::string& name, const C& callback, std::size_t first = 0) {
  const Json& record = recorded("lightning_callbacks").at(name);
  Sequential model = compiled_line();
  const Weights weights = fit_line(model, {C(callback)});
  BOOST_TEST_CONTEXT(name) {
    BOOST_TEST_REQUIRE(weights.validated.size() == 3U);
    for (std::size_t i = first; i < 3; ++i) {
      BOOST_TEST(weights.validated[i] == record.at("validated")[i].get<double>(), tolerance(1e-5));
    }
    BOOST_TEST(weight_of(model) == record.at("weight").get<double>(), tolerance(1e-5));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weight_averaging)

BOOST_AUTO_TEST_CASE(averages_are_those_of_lightning) {
  check("average", WeightAveraging());
  check("ema", EMAWeightAveraging({.decay = 0.5}));
  check("ema_late", EMAWeightAveraging({.decay = 0.75, .update_every_n_steps = 2, .update_starting_at_step = 2}));
  // Before the first update Lightning validates with the initial weights.
  check("ema_epochs", EMAWeightAveraging({.decay = 0.5, .update_every_n_steps = 0, .update_starting_at_epoch = 1}), 2);
}

BOOST_AUTO_TEST_CASE(training_goes_on_with_the_weights) {
  Sequential plain = compiled_line(), averaged = compiled_line();
  WeightAveraging averaging;
  const Weights expected = fit_line(plain, {}), found = fit_line(averaged, {averaging});
  BOOST_TEST(found.trained == expected.trained, boost::test_tools::per_element());
  BOOST_TEST(averaging.n_averaged() == 9);
  BOOST_TEST(averaging.averages().at(0).item() == weight_of(averaged));
}

BOOST_AUTO_TEST_CASE(functions_and_choices_of_ones_own) {
  struct Second : WeightAveraging {
    using WeightAveraging::WeightAveraging;
    bool should_update(std::optional<std::int64_t> step, std::optional<int>) const override {
      return step && *step % 2 == 1;
    }
  };
  Sequential model = compiled_line();
  std::vector<std::int64_t> counts;
  const auto sum = [&](double average, double weight, std::int64_t count) {
    counts.push_back(count);
    return average + weight;
  };
  const Weights weights = fit_line(model, {Second({.avg_fn = sum})}, 2);
  BOOST_TEST(weight_of(model) == weights.trained[1] + weights.trained[3] + weights.trained[5], tolerance(1e-6));
  BOOST_TEST(counts == (std::vector<std::int64_t>{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(moving_statistics_are_averaged_if_wanted) {
  const auto fit = [](Run& run, const Callbacks& callbacks) {
    seed_everything(3);
    Trainer({.max_epochs = 2, .callbacks = callbacks, .enable_progress_bar = false}).fit(run.model, Run::data());
  };
  Run plain({}), with({}), without({});
  fit(plain, {});
  fit(with, {WeightAveraging()});
  fit(without, {WeightAveraging({.use_buffers = false})});
  const auto statistics = [](const Run& run) {
    std::vector<double> out;
    for (const Variable& weight : run.model.weights()) {
      if (!weight.trainable()) out.push_back(weight.value().to_doubles().front());
    }
    return out;
  };
  BOOST_TEST_REQUIRE(statistics(plain).size() == 2U);
  BOOST_TEST(statistics(without) == statistics(plain), boost::test_tools::per_element());
  BOOST_TEST(statistics(with)[0] != statistics(plain)[0]);
}

BOOST_AUTO_TEST_CASE(a_resumed_training_has_the_same_averages) {
  const Folder folder;
  const auto fit = [&](Run& run, int epochs, const std::string& from, const Callbacks& more) {
    seed_everything(3);
    Callbacks all{EMAWeightAveraging({.decay = 0.75})};
    all.insert(all.end(), more.begin(), more.end());
    const Trainer trainer({.max_epochs = epochs, .callbacks = all, .enable_progress_bar = false});
    trainer.fit(run.model, Run::data(), Run::data(), {.ckpt_path = from});
  };
  // Saves in the middle of an epoch, and in a validation, when the model has the averages.
  struct Saver : Callback {
    explicit Saver(const Folder& place) : folder(place) {}
    bool saves() const override { return true; }
    void on_train_batch_end(std::int64_t batch, Logs&) override {
      if (batch == 1) session().save_checkpoint(folder.path("batch.ckpt"));
    }
    void on_test_batch_end(std::int64_t, Logs&) override { session().save_checkpoint(folder.path("test.ckpt")); }
    const Folder& folder;
  };
  Run whole({}), saved({}), batch({}, 7), test({}, 7);
  fit(whole, 3, "", {});
  fit(saved, 2, "", {Saver(folder)});
  fit(batch, 3, folder.path("batch.ckpt"), {});
  BOOST_TEST(changed_since(values_of(whole.model), batch.model) == "");
  fit(test, 3, folder.path("test.ckpt"), {});
  BOOST_TEST(changed_since(values_of(whole.model), test.model) == "");
}

BOOST_AUTO_TEST_CASE(errors_give_the_weights_back) {
  struct Fault : Callback {
    void on_train_batch_end(std::int64_t, Logs&) override { weight = weight_of(module()); }
    void on_test_batch_end(std::int64_t, Logs&) override { throw ValueError("fault"); }
    double weight = 0;
  };
  Sequential model = compiled_line();
  Fault fault;
  BOOST_TEST(refused<ValueError>([&] { fit_line(model, {WeightAveraging(), fault}); }) == "fault");
  BOOST_TEST(weight_of(model) == fault.weight);
  fit_line(model, {});  // the optimizer trains on
  BOOST_TEST(refused<ValueError>([] { EMAWeightAveraging({.decay = 1.5}); }) ==
             "[EMAWeightAveraging] decay must be in [0, 1]; got 1.5");
  BOOST_TEST(refused<ValueError>([] { EMAWeightAveraging({.update_every_n_steps = -1}); }) ==
             "[EMAWeightAveraging] update_every_n_steps must be 0 or more; got -1");
  Sequential swapped = line(0.5);
  swapped.compile({.optimizer = SGD({.learning_rate = 0.01, .use_ema = true}), .loss = "mse"});
  BOOST_TEST(refused<ValueError>([&] {
               fit_line(swapped, {SwapEMAWeights(), WeightAveraging()});
             }) == "[WeightAveraging] no other callback may replace the weights; got one that did");
}

BOOST_AUTO_TEST_SUITE_END()
