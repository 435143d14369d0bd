#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cmath>

#include "small.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A model after some training steps, with statistics and slots that a failure could change.
struct Trained {
  Adam optimizer{AdamOptions{.learning_rate = 0.01}};
  Sequential model =
      Sequential({Dense({.units = 4, .name = "low"}), BatchNormalization(), Dense({.units = 3, .name = "head"})});

  Trained() {
    model.compile({.optimizer = optimizer, .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    model.fit(x(), y(), quiet());
  }

  static Tensor x() { return {{4, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 9}}; }
  static Tensor y() { return {{4}, std::vector<std::int64_t>{0, 1, 2, 1}}; }
  static FitOptions quiet() { return {.batch_size = 2, .epochs = 2, .verbose = false, .shuffle = false}; }

  /// Weights, slots and iterations: everything that a step changes.
  std::map<std::string, Tensor> everything() const {
    auto all = values_of(model);
    for (const auto& slots : optimizer.state()->slots) {
      for (const auto& slot : slots.values) {
        all[slot->name + fmt::to_string(all.size())] = slot->value.copy();
      }
    }
    all["iterations"] = Tensor::scalar(static_cast<double>(optimizer.iterations()), DType::float64);
    return all;
  }
};

/// Text of the error that `call` throws. Checks that it changed nothing and that training works afterwards.
template <class E = Error, class Call>
std::string refusal(Call call) {
  Trained trained;
  const auto before = trained.everything();
  const std::string text = refused<E>([&] { call(trained.model); });
  const auto after = trained.everything();
  BOOST_TEST(before.size() == after.size());
  for (const auto& entry : before) {
    BOOST_TEST_CONTEXT(entry.first) { BOOST_TEST(after.at(entry.first).equal(entry.second)); }
  }
  trained.model.fit(Trained::x(), Trained::y(), Trained::quiet());
  BOOST_TEST(trained.optimizer.iterations() == 8);
  return text;
}

template <class E = Error>
std::string fit_refusal(const Tensor& x, const Tensor& y, const FitOptions& options = Trained::quiet()) {
  return refusal<E>([&](Model& model) { model.fit(x, y, options); });
}

Tensor labels(const std::vector<std::int64_t>& numbers) {
  return {{static_cast<std::int64_t>(numbers.size())}, numbers};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bad_input)

BOOST_AUTO_TEST_CASE(wrong_shapes_and_ranks) {
  BOOST_TEST(fit_refusal<ShapeError>(Tensor({4, 3}), Trained::y()) ==
             "[Dense \"low\"] input axis -1 must be 2 (rows of kernel); got shape (2, 3)");
  BOOST_TEST(fit_refusal<ShapeError>(Tensor({4}), Trained::y()) ==
             "[Dense \"low\"] input must have rank 2 or more; got shape (2,): add a batch axis if this is one sample");
  const std::string must =
      "[sparse_categorical_crossentropy] y_true must have the shape of y_pred without its last "
      "axis, the classes; got y_true ";
  BOOST_TEST(fit_refusal<ShapeError>(Trained::x(), Tensor({4, 2}, DType::int64)) ==
             must + "(2, 2) and y_pred (2, 3) (the arguments are y_true, y_pred)");
  BOOST_TEST(refusal<ShapeError>([](Model& model) {
               model.predict(Tensor({1, 7}));
             }) == "[Dense \"low\"] input axis -1 must be 2 (rows of kernel); got shape (1, 7)");
  BOOST_TEST(refusal<ShapeError>([](Model& model) {
               model.evaluate(Tensor({1, 7}), labels({0}));
             }) == "[Dense \"low\"] input axis -1 must be 2 (rows of kernel); got shape (1, 7)");
}

BOOST_AUTO_TEST_CASE(wrong_dtypes) {
  BOOST_TEST(fit_refusal<DTypeError>(Trained::x(), Tensor({4})) ==
             "[sparse_categorical_crossentropy] y_true must be integer labels; got float32");
  BOOST_TEST(fit_refusal<DTypeError>(Trained::x(), Tensor({4}, DType::boolean)) ==
             "[sparse_categorical_crossentropy] y_true must be integer labels; got bool");
}

BOOST_AUTO_TEST_CASE(labels_out_of_range) {
  for (const std::int64_t label : {3, -1}) {
    BOOST_TEST(fit_refusal<ValueError>(Trained::x().slice(0, 2), labels({1, label})) ==
               "[Sequential] labels must be in [0, 3); got " + fmt::to_string(label) + " at index 1");
  }
  BOOST_TEST(refusal<ValueError>([](Model& model) {
               model.evaluate(Trained::x(), labels({0, 1, 2, 3}));
             }) == "[Sequential] labels must be in [0, 3); got 3 at index 3");
  const Trainer eager({.max_epochs = 1, .enable_progress_bar = false, .eager = true});
  Trained trained;
  const auto before = values_of(trained.model);
  const DataLoader loader(Dataset::from_tensors({{"x", Trained::x()}, {"y", labels({0, 1, 2, 7}), Role::target}}));
  BOOST_CHECK_THROW(eager.fit(trained.model, loader), ValueError);
  BOOST_TEST(changed_since(before, trained.model) == "");
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite) {
  Tensor x = Trained::x().slice(0, 2);
  for (const float number : {std::nanf(""), HUGE_VALF}) {
    x.mutable_data<float>()[1] = number;
    BOOST_TEST(fit_refusal<ValueError>(x, labels({0, 1})) ==
               "[Trainer] the loss must be finite; got NaN or infinity: input \"x\" holds a value that is not finite "
               "(float32); no weight was changed by this step");
  }
}

BOOST_AUTO_TEST_CASE(arrays_that_do_not_belong_together) {
  BOOST_TEST(fit_refusal<ShapeError>(Trained::x(), labels({0, 1, 2})) ==
             "[Dataset] field \"y\" must have 4 samples, as \"x\" has; got shape (3,)");
  BOOST_TEST(fit_refusal<ShapeError>(Tensor(Shape{}), Trained::y()) ==
             "[Dataset] field \"x\" must have an axis 0 that counts the samples; got shape ()");
  FitOptions weighted = Trained::quiet();
  weighted.sample_weight = Tensor({3});
  BOOST_TEST(fit_refusal<ShapeError>(Trained::x(), Trained::y(), weighted) ==
             "[Dataset] field \"sample_weight\" must have 4 samples, as \"x\" has; got shape (3,)");
  weighted.sample_weight = Tensor({4, 2});
  BOOST_TEST(
      fit_refusal<ShapeError>(Trained::x(), Trained::y(), weighted) ==
      "[sparse_categorical_crossentropy] sample_weight must have the first axes of the values, (2,); got shape (2, "
      "2)");
  FitOptions validated = Trained::quiet();
  validated.validation_data = {Tensor({2, 5}), labels({0, 1})};
  BOOST_TEST(fit_refusal<ShapeError>(Trained::x(), Trained::y(), validated) ==
             "[Dense \"low\"] input axis -1 must be 2 (rows of kernel); got shape (2, 5)");
}

BOOST_AUTO_TEST_CASE(empty_data) {
  BOOST_TEST(fit_refusal<ValueError>(Tensor({0, 2}), Tensor({0}, DType::int64)) ==
             "[DataLoader] the data set must have samples; got 0");
  BOOST_TEST(refusal<ValueError>([](Model& model) { model.fit(DataLoader()); }) ==
             "[Trainer] fit: the loader must have batches; got an absent loader");
  BOOST_TEST(refusal<ValueError>([](Model& model) { Trainer().fit(model, DataLoader()); }) ==
             "[Trainer] fit: the loader must have batches; got an absent loader");
  BOOST_TEST(refusal<ValueError>([](Model& model) { model.evaluate(DataLoader()); }) ==
             "[Trainer] validate: the loader must have batches; got an absent loader");
  BOOST_TEST(refusal<ValueError>([](Model& model) { Trainer().test(model, DataLoader()); }) ==
             "[Trainer] test: the loader must have batches; got an absent loader");
  BOOST_TEST(refusal<ValueError>([](Model& model) { model.predict(DataLoader()); }) ==
             "[Trainer] predict: the loader must have batches; got an absent loader");
  BOOST_TEST(refusal<ValueError>([](Model& model) {
               model.predict(Tensor({0, 2}));
             }) == "[DataLoader] the data set must have samples; got 0");
}

BOOST_AUTO_TEST_CASE(options_out_of_range) {
  const auto with = [](auto change) {
    FitOptions options = Trained::quiet();
    change(options);
    return fit_refusal<ValueError>(Trained::x(), Trained::y(), options);
  };
  BOOST_TEST(with([](FitOptions& o) { o.batch_size = 0; }) == "[DataLoader] batch_size must be 1 or more; got 0");
  BOOST_TEST(with([](FitOptions& o) { o.epochs = -1; }) == "[Sequential] fit: epochs must be 0 or more; got -1");
  for (const double split : {-0.5, 1.0, std::nan("")}) {
    BOOST_TEST(with([&](FitOptions& o) { o.validation_split = split; }) ==
               "[Sequential] fit: validation_split must be in [0, 1); got " + fmt::format("{}", split));
  }
  BOOST_TEST(with([](FitOptions& o) { o.validation_split = 0.99; }) ==
             "[DataLoader] the data set must have samples; got 0");
}

BOOST_AUTO_TEST_CASE(an_exception_in_a_loaders_thread) {
  for (const int workers : {0, 2}) {
    const Dataset broken = Dataset::from_function(
        {.size = 8,
         .fields = {{.name = "x", .shape = {2}}, {.name = "y", .dtype = DType::int64, .role = Role::target}},
         .function = [](std::int64_t index) -> std::vector<Tensor> {
           if (index == 1) throw FileError("cannot read \"1.png\"");
           return {Tensor({2}), Tensor(Shape{}, DType::int64)};
         }});
    const DataLoader loader(broken, {.batch_size = 4, .workers = workers});
    const std::string text = "[DataLoader] sample 1: cannot read \"1.png\"";
    BOOST_TEST(refusal<FileError>([&](Model& model) { model.fit(loader, {.verbose = false}); }) == text);
    BOOST_TEST(refusal<FileError>([&](Model& model) { model.evaluate(loader); }) == text);
    BOOST_TEST(refusal<FileError>([&](Model& model) { model.predict(loader); }) == text);
  }
}

BOOST_AUTO_TEST_CASE(batches_without_what_a_compiled_model_needs) {
  const std::string needs = "[Sequential] a batch for a compiled model must have inputs and one target; got ";
  const DataLoader no_target(Dataset::from_tensors({{"x", Trained::x()}}));
  BOOST_TEST(refusal<ValueError>([&](Model& model) { model.fit(no_target, {.verbose = false}); }) ==
             needs + "1 inputs and 0 targets");
  const DataLoader no_input(Dataset::from_tensors({{"y", Trained::y(), Role::target}}));
  BOOST_TEST(refusal<ValueError>([&](Model& model) { model.evaluate(no_input); }) == needs + "0 inputs and 1 targets");
  BOOST_TEST(refusal<ValueError>([&](Model& model) { model.predict(no_input); }) ==
             "[Sequential] predict: the batch must have an input field; got fields: y");
}

BOOST_AUTO_TEST_CASE(a_model_that_is_frozen_or_not_compiled) {
  const std::string nothing = "[Trainer] the loss must depend on a trainable weight; got one that depends on none";
  BOOST_TEST(refusal<ValueError>([](Model& model) {
               model.set_trainable(false);
               try {
                 model.fit(Trained::x(), Trained::y(), Trained::quiet());
               } catch (...) {
                 model.set_trainable(true);
                 throw;
               }
             }) == nothing);
  Sequential plain({Dense({.units = 1})});
  BOOST_TEST(refused<ValueError>([&] {
               plain.fit(Tensor({1, 1}), Tensor({1, 1}));
             }) == "[Sequential] fit: the model must be compiled; got one without a loss");
  BOOST_TEST(refused<ValueError>([&] {
               plain.evaluate(Tensor({1, 1}), Tensor({1, 1}));
             }) == "[Sequential] evaluate: the model must be compiled; got one without a loss");
  BOOST_TEST(plain.weights().empty());
  Sequential weightless({Flatten()});
  weightless.compile({.loss = "mse"});
  BOOST_TEST(refused<ValueError>([&] {
               weightless.fit(Tensor({1, 1}), Tensor({1, 1}), {.verbose = false});
             }) == nothing);
}

BOOST_AUTO_TEST_CASE(compiling_wrongly_leaves_what_was_compiled) {
  BOOST_TEST(refusal<ValueError>([](Model& model) { model.compile({.optimizer = "sgd"}); }) ==
             "[Sequential] compile: loss is required; got none");
  BOOST_TEST(refusal<ValueError>([](Model& model) { model.compile({.optimizer = Any<Optimizer>(), .loss = "mse"}); }) ==
             "[Sequential] compile: optimizer is required; got none");
  BOOST_TEST(refusal<ValueError>([](Model& model) { model.compile({.loss = "mse", .metrics = {Any<Metric>()}}); }) ==
             "[Sequential] compile: metrics must not be empty; got an empty one at index 0");
  const std::string differ = "[Sequential] compile: names of loss and metrics must differ; got ";
  BOOST_TEST(refusal<NameError>([](Model& model) {
               model.compile({.loss = "mse", .metrics = {"mae", "mae"}});
             }) == differ + "\"mae\" twice");
  BOOST_TEST(refusal<NameError>([](Model& model) {
               model.compile({.loss = "mse", .metrics = {metrics::MeanSquaredError({.name = "loss"})}});
             }) == differ + "\"loss\" twice");
  BOOST_TEST(refusal<NameError>([](Model& model) {
               model.compile({.loss = "mse", .metrics = {"mae", metrics::MeanSquaredError({.name = "val_mae"})}});
             }) ==
             "[Sequential] compile: \"val_mae\" must have a name other than that of \"mae\" in validations; "
             "rename the metric");
}

BOOST_AUTO_TEST_SUITE_END()
