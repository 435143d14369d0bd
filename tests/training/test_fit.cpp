#include <boost/test/unit_test.hpp>

#include "small.hpp"
#include "support/layers.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;
using Numbers = std::vector<double>;

namespace {

const Numbers xs{1, 2, 3, 4, 5}, ys{2, 3, 7, 7, 12};
const FitOptions in_order{.batch_size = 2, .verbose = false, .shuffle = false};

Sequential compiled_line(double rate, double momentum = 0) {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = rate, .momentum = momentum}), .loss = "mse"});
  return model;
}

Numbers part(const Numbers& all, std::size_t begin, std::size_t end) {
  return Numbers(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
}

std::string keys(const History& history) {
  std::string text;
  for (const auto& entry : history.history) text += entry.first + " ";
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fit)

BOOST_AUTO_TEST_CASE(an_epoch_takes_every_batch_the_last_short_one_too) {
  Sequential model = compiled_line(0.01);
  double weight = 0.5;
  for (const std::size_t begin : {0U, 2U, 4U}) {
    const std::size_t end = std::min<std::size_t>(begin + 2, 5);
    weight = stepped(weight, 0.01, part(xs, begin, end), part(ys, begin, end));
  }
  const History history = model.fit(column(xs), column(ys), in_order);
  BOOST_TEST(weight_of(model) == weight, tolerance(1e-5));
  BOOST_TEST(history.epoch == (std::vector<int>{0}), boost::test_tools::per_element());
  BOOST_TEST(keys(history) == "loss ");
}

BOOST_AUTO_TEST_CASE(means_are_over_samples_not_batches) {
  Sequential model = compiled_line(0);
  const History history = model.fit(column(xs), column(ys), in_order);
  BOOST_TEST(history.history.at("loss").at(0) == squared_error(0.5, xs, ys), tolerance(1e-6));
  BOOST_TEST(model.evaluate(column(xs), column(ys), {.batch_size = 2}).at("loss") == squared_error(0.5, xs, ys),
             tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_split_validates_on_the_last_samples_and_trains_on_the_others) {
  Sequential model = compiled_line(0);
  const History history =
      model.fit(column(xs), column(ys), {.batch_size = 2, .epochs = 2, .verbose = false, .validation_split = 0.4});
  BOOST_TEST(keys(history) == "loss val_loss ");
  BOOST_TEST(history.history.at("loss").size() == 2U);
  BOOST_TEST(history.history.at("loss")[1] == squared_error(0.5, part(xs, 0, 3), part(ys, 0, 3)), tolerance(1e-6));
  BOOST_TEST(history.history.at("val_loss")[1] == squared_error(0.5, part(xs, 3, 5), part(ys, 3, 5)), tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(validation_data_come_before_a_split) {
  Sequential model = compiled_line(0);
  const History history =
      model.fit(column(xs), column(ys),
                {.verbose = false, .validation_split = 0.4, .validation_data = {{column({1, 1}), column({0, 0})}}});
  BOOST_TEST(history.history.at("loss").at(0) == squared_error(0.5, xs, ys), tolerance(1e-6));
  BOOST_TEST(history.history.at("val_loss").at(0) == 0.25, tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(sample_weights_are_factors_of_the_samples_losses) {
  const Numbers factors{1, 0, 2, 0.5, 3};
  Sequential model = compiled_line(0.01);
  const History history =
      model.fit(column(xs), column(ys),
                {.batch_size = 5, .verbose = false, .shuffle = false, .sample_weight = Tensor({5}, factors)});
  BOOST_TEST(weight_of(model) == stepped(0.5, 0.01, xs, ys, factors), tolerance(1e-5));
  double loss = 0;
  for (std::size_t i = 0; i < 5; ++i) loss += factors[i] * (0.5 * xs[i] - ys[i]) * (0.5 * xs[i] - ys[i]) / 5;
  BOOST_TEST(history.history.at("loss").at(0) == loss, tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(sample_weights_are_factors_of_the_validation_loss_too) {
  const Numbers factors{1, 0, 2, 0.5, 3};
  Sequential model = compiled_line(0);
  const History history =
      model.fit(column(xs), column(ys),
                {.batch_size = 2, .verbose = false, .validation_split = 0.4, .sample_weight = Tensor({5}, factors)});
  double loss = 0;
  for (std::size_t i = 3; i < 5; ++i) loss += factors[i] * (0.5 * xs[i] - ys[i]) * (0.5 * xs[i] - ys[i]) / 2;
  BOOST_TEST(history.history.at("val_loss").at(0) == loss, tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(metrics_are_in_history_and_in_what_evaluate_returns) {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0}),
                 .loss = "mse",
                 .metrics = {"mae", MeanAbsoluteError(), metrics::MeanSquaredError({.name = "twin"})}});
  const History history = model.fit(column({1, 3}), column({0, 0}), {.verbose = false, .validation_split = 0.5});
  BOOST_TEST(keys(history) == "loss mae mean_absolute_error twin val_loss val_mae val_mean_absolute_error val_twin ");
  BOOST_TEST(history.history.at("mae").at(0) == 0.5);
  BOOST_TEST(history.history.at("val_mae").at(0) == 1.5);
  const Logs logs = model.evaluate(column({1, 3}), column({0, 0}));
  BOOST_TEST(logs.size() == 4U);
  BOOST_TEST(logs.at("mae") == 1.0);
  BOOST_TEST(logs.at("mean_absolute_error") == 1.0);
  BOOST_TEST(logs.at("loss") == 1.25);
  BOOST_TEST(logs.at("twin") == 1.25);
}

BOOST_AUTO_TEST_CASE(accuracy_picks_its_kind) {
  Sequential model({Dense({.units = 3, .use_bias = false})});
  model.build({1, 3});
  model.weights()[0].assign(Tensor({3, 3}, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  model.compile({.loss = SparseCategoricalCrossentropy({.from_logits = true}), .metrics = {"accuracy"}});
  const Tensor x({4, 3}, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0});
  BOOST_TEST(model.evaluate(x, Tensor({4}, std::vector<std::int64_t>{0, 1, 2, 1})).at("accuracy") == 0.75);
}

BOOST_AUTO_TEST_CASE(fitting_again_goes_on_with_the_same_optimizer) {
  const FitOptions two{.batch_size = 2, .epochs = 2, .verbose = false, .shuffle = false};
  Sequential once = compiled_line(0.01, 0.9), twice = compiled_line(0.01, 0.9);
  once.fit(column(xs), column(ys), two);
  twice.fit(column(xs), column(ys), in_order);
  const History second = twice.fit(column(xs), column(ys), in_order);
  BOOST_TEST(weight_of(once) == weight_of(twice));
  BOOST_TEST(second.epoch.at(0) == 0);
}

BOOST_AUTO_TEST_CASE(compiling_or_a_trainer_begin_anew) {
  Sequential compiled = compiled_line(0.01, 0.9), trained = compiled_line(0.01, 0.9),
             went_on = compiled_line(0.01, 0.9);
  const Trainer trainer({.max_epochs = 1, .enable_progress_bar = false});
  const DataLoader loader(pairs(xs, ys), {.batch_size = 2});
  for (int round = 0; round < 2; ++round) {
    compiled.compile({.optimizer = SGD({.learning_rate = 0.01, .momentum = 0.9}), .loss = "mse"});
    compiled.fit(column(xs), column(ys), in_order);
    trainer.fit(trained, loader);
    went_on.fit(column(xs), column(ys), in_order);
  }
  BOOST_TEST(weight_of(compiled) == weight_of(trained));
  BOOST_TEST(weight_of(compiled) != weight_of(went_on));
}

BOOST_AUTO_TEST_CASE(loaders_and_arrays_train_alike) {
  Sequential arrays = compiled_line(0.01), loader = compiled_line(0.01);
  const History first = arrays.fit(column(xs), column(ys), in_order);
  const DataLoader batches(pairs(xs, ys), {.batch_size = 2});
  const History second = loader.fit(batches, {.verbose = false, .validation_data = batches});
  BOOST_TEST(weight_of(arrays) == weight_of(loader));
  BOOST_TEST(first.history.at("loss").at(0) == second.history.at("loss").at(0));
  BOOST_TEST(loader.evaluate(batches).at("loss") == second.history.at("val_loss").at(0));
}

BOOST_AUTO_TEST_CASE(fields_are_taken_by_their_roles_whatever_their_names) {
  const auto a = Input({.shape = {1}}), b = Input({.shape = {1}});
  Model model({.inputs = {a, b}, .outputs = {line(0.5)(a) + b}});
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  const Tensor zeros({5, 1});
  const Dataset data = Dataset::from_tensors({{"factor", Tensor({5}, Numbers(5, 2)), Role::weight},
                                              {"left", column(xs)},
                                              {"goal", column(ys), Role::target},
                                              {"right", zeros}});
  model.fit(DataLoader(data, {.batch_size = 5}), {.verbose = false});
  BOOST_TEST(weight_of(model) == stepped(0.5, 0.01, xs, ys, Numbers(5, 2)), tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(shuffling_changes_the_order_but_not_the_samples) {
  Sequential shuffled = compiled_line(0.01), ordered = compiled_line(0.01), again = compiled_line(0.01);
  const FitOptions mixed{.batch_size = 1, .epochs = 3, .verbose = false};
  seed_everything(3);
  shuffled.fit(column(xs), column(ys), mixed);
  seed_everything(3);
  again.fit(column(xs), column(ys), mixed);
  ordered.fit(column(xs), column(ys), {.batch_size = 1, .epochs = 3, .verbose = false, .shuffle = false});
  BOOST_TEST(weight_of(shuffled) == weight_of(again));
  BOOST_TEST(weight_of(shuffled) != weight_of(ordered));
}

// Two epochs equal one pass over the samples in the loader's orders of epochs 0 and 1.
BOOST_AUTO_TEST_CASE(each_epoch_has_the_order_of_its_number) {
  const DataLoader shuffled(pairs(xs, ys), {.batch_size = 1, .shuffle = true, .seed = 3});
  Numbers order_x, order_y;
  for (const int epoch : {0, 1}) {
    detail::BatchStream stream = shuffled.epoch(epoch);
    while (const auto batch = stream.next()) {
      order_x.push_back(batch->fields.at(0).tensor.to_doubles().at(0));
      order_y.push_back(batch->fields.at(1).tensor.to_doubles().at(0));
    }
  }
  BOOST_TEST_REQUIRE(order_x.size() == 10U);
  BOOST_TEST((part(order_x, 0, 5) != part(order_x, 5, 10)));
  Sequential trained = compiled_line(0.01), expected = compiled_line(0.01), by_trainer = compiled_line(0.01);
  trained.fit(shuffled, {.epochs = 2, .verbose = false});
  Trainer({.max_epochs = 2, .enable_progress_bar = false}).fit(by_trainer, shuffled);
  expected.fit(column(order_x), column(order_y), {.batch_size = 1, .verbose = false, .shuffle = false});
  BOOST_TEST(weight_of(trained) == weight_of(expected));
  BOOST_TEST(weight_of(by_trainer) == weight_of(expected));
}

BOOST_AUTO_TEST_CASE(no_epochs_is_no_training) {
  Sequential model = compiled_line(0.01);
  const History history = model.fit(column(xs), column(ys), {.epochs = 0, .verbose = false});
  BOOST_TEST(history.epoch.empty());
  BOOST_TEST(history.history.empty());
  BOOST_TEST(weight_of(model) == 0.5);
}

BOOST_AUTO_TEST_CASE(names_train_as_objects_do) {
  Sequential named = line(0.5), made = line(0.5);
  named.compile({.optimizer = "sgd", .loss = "mean_squared_error"});
  made.compile({.optimizer = SGD(), .loss = MeanSquaredError()});
  named.fit(column(xs), column(ys), in_order);
  made.fit(column(xs), column(ys), in_order);
  BOOST_TEST(weight_of(named) == weight_of(made));
  BOOST_TEST(weight_of(named) != 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
