#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/graph/trace.hpp>
#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/losses/hinge.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/losses/mean_squared_error.hpp>
#include <mezzo/losses/overlap.hpp>
#include <mezzo/losses/regression.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/op_lists.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Compares values and gradients in float64 and float32 with Keras', relative to the largest number if that is above 1.
void check_recorded(const std::string& name, const Any<Loss>& loss) {
  const auto& expected = recorded("losses").at(name);
  const double tolerances[] = {1e-12, 2e-6};
  const DType dtypes[] = {DType::float64, DType::float32};
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST_CONTEXT(name << " in " << dtype_name(dtypes[i])) {
      Trace trace(Trace::Mode::eager, true);
      const Value y_pred = trace.input("y_pred", recorded_tensor(expected.at("y_pred")).cast(dtypes[i]));
      const Value values = loss->call(recorded_tensor(expected.at("y_true")), y_pred);
      BOOST_TEST((values.dtype() == dtypes[i]));
      const auto close = [&](const Tensor& actual, const char* what) {
        const Tensor right = recorded_tensor(expected.at(what));
        double most = 1;
        for (const double number : right.to_doubles()) most = std::max(most, std::abs(number));
        BOOST_TEST(largest_difference(actual, right) <= tolerances[i] * most, what);
      };
      close(values.tensor(), "values");
      BOOST_TEST(std::abs((*loss)(recorded_tensor(expected.at("y_true")), y_pred).item() -
                          expected.at("mean").get<double>()) <=
                 tolerances[i] * (1 + std::abs(expected.at("mean").get<double>())));
      const Value cotangent = recorded_tensor(expected.at("cotangent")).cast(dtypes[i]);
      const Value gradient = gradients(sum(values * cotangent), {y_pred}).front();
      close(gradient.tensor(), "gradient");
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(losses)

BOOST_AUTO_TEST_CASE(squared_and_absolute_errors_equal_keras) {
  for (const char* suffix : {"", "_rank_3", "_column", "_integers"}) {
    check_recorded("mean_squared_error" + std::string(suffix), MeanSquaredError());
    check_recorded("mean_absolute_error" + std::string(suffix), MeanAbsoluteError());
  }
}

BOOST_AUTO_TEST_CASE(sparse_categorical_crossentropy_equals_keras) {
  const SparseCategoricalCrossentropy logits({.from_logits = true}), probabilities;
  for (const char* name : {"logits", "logits_column", "logits_large", "logits_rank_3"}) check_recorded(name, logits);
  for (const char* name : {"probabilities", "probabilities_not_scaled", "probabilities_clipped"}) {
    check_recorded(name, probabilities);
  }
}

BOOST_AUTO_TEST_CASE(others_equal_keras) {
  const std::vector<std::pair<std::string, Any<Loss>>> rows{
      {"mean_absolute_percentage_error", MeanAbsolutePercentageError()},
      {"mean_absolute_percentage_error_rank_3", MeanAbsolutePercentageError()},
      {"mean_squared_logarithmic_error", MeanSquaredLogarithmicError()},
      {"cosine_similarity", CosineSimilarity()},
      {"cosine_similarity_rank_3", CosineSimilarity()},
      {"cosine_similarity_axis", CosineSimilarity({.axis = 0})},
      {"huber", Huber()},
      {"huber_rank_3", Huber()},
      {"huber_delta", Huber({.delta = 0.3})},
      {"log_cosh", LogCosh()},
      {"log_cosh_rank_3", LogCosh()},
      {"log_cosh_large", LogCosh()},
      {"poisson", Poisson()},
      {"hinge", Hinge()},
      {"hinge_signed", Hinge()},
      {"squared_hinge", SquaredHinge()},
      {"squared_hinge_signed", SquaredHinge()},
      {"categorical_hinge", CategoricalHinge()},
      {"kl_divergence", KLDivergence()},
      {"binary_crossentropy", BinaryCrossentropy()},
      {"binary_crossentropy_logits", BinaryCrossentropy({.from_logits = true})},
      {"binary_crossentropy_smoothed", BinaryCrossentropy({.label_smoothing = 0.2})},
      {"binary_crossentropy_axis", BinaryCrossentropy({.axis = 0})},
      {"categorical_crossentropy", CategoricalCrossentropy()},
      {"categorical_crossentropy_logits", CategoricalCrossentropy({.from_logits = true})},
      {"categorical_crossentropy_smoothed", CategoricalCrossentropy({.from_logits = true, .label_smoothing = 0.1})},
      {"categorical_crossentropy_axis", CategoricalCrossentropy({.axis = 0})},
      {"binary_focal_crossentropy", BinaryFocalCrossentropy()},
      {"binary_focal_crossentropy_balanced",
       BinaryFocalCrossentropy({.apply_class_balancing = true, .alpha = 0.3, .gamma = 1.5, .from_logits = true})},
      {"categorical_focal_crossentropy", CategoricalFocalCrossentropy()},
      {"categorical_focal_crossentropy_logits",
       CategoricalFocalCrossentropy({.alpha = 0.4, .gamma = 1.5, .from_logits = true, .label_smoothing = 0.1})},
      {"categorical_generalized_cross_entropy", CategoricalGeneralizedCrossEntropy({.q = 0.7})},
      {"dice", Dice()},
      {"dice_axis", Dice({.axis = {1}})},
      {"tversky", Tversky()},
      {"tversky_axis", Tversky({.alpha = 0.3, .beta = 0.8, .axis = {1}})},
      {"circle", Circle()},
      {"circle_diagonal", Circle({.gamma = 10, .margin = 0.2, .remove_diagonal = false})},
      {"ignored_logits", SparseCategoricalCrossentropy({.from_logits = true, .ignore_class = 2})},
      {"ignored_probabilities", SparseCategoricalCrossentropy({.ignore_class = 2})},
  };
  for (const auto& [name, loss] : rows) check_recorded(name, loss);
}

BOOST_AUTO_TEST_CASE(reductions_equal_keras) {
  const auto& expected = recorded("losses").at("reductions");
  const Tensor y_true = recorded_tensor(expected.at("y_true")), y_pred = recorded_tensor(expected.at("y_pred"));
  for (const char* reduction : {"sum_over_batch_size", "sum", "mean", "mean_with_sample_weight"}) {
    const MeanAbsoluteError loss({.reduction = reduction});
    for (const char* kind : {"none", "elements", "samples"}) {
      BOOST_TEST_CONTEXT(reduction << " " << kind) {
        const std::string weight = std::string("weight_") + kind;
        Value factors;
        if (expected.contains(weight)) factors = recorded_tensor(expected.at(weight));
        BOOST_TEST(std::abs(loss(y_true, y_pred, factors).item() -
                            expected.at(std::string(reduction) + "_" + kind).get<double>()) <= 1e-12);
      }
    }
  }
  const Value each = MeanAbsoluteError({.reduction = "none"})(y_true, y_pred, Tensor({3}, std::vector<float>{1, 0, 2}));
  BOOST_TEST(to_string(each.shape()) == "(3, 2)");
  BOOST_TEST(refused<ValueError>([] { MeanAbsoluteError({.reduction = "total"}); }) ==
             "[mean_absolute_error] reduction must be one of sum_over_batch_size, sum, mean, mean_with_sample_weight, "
             "none; got \"total\"");
  BOOST_TEST(refused<ShapeError>([&] { MeanAbsoluteError()(y_true, y_pred, Tensor({2})); }) ==
             "[mean_absolute_error] sample_weight must have the first axes of the values, (3, 2); got shape (2,)");
}

// Bounds of predictions keep NaN: a broken model must not look trained.
BOOST_AUTO_TEST_CASE(predictions_that_are_nan_give_nan) {
  const Tensor y_true({1, 2}, std::vector<float>{0.25F, 0.75F}), y_pred({1, 2}, std::vector<float>{NAN, 0.5F});
  for (const char* name : {"binary_crossentropy", "categorical_crossentropy", "kl_divergence",
                           "mean_squared_logarithmic_error", "cosine_similarity", "huber"}) {
    BOOST_TEST(std::isnan(mean(Any<Loss>(name)->call(y_true, y_pred)).item()), name);
  }
}

BOOST_AUTO_TEST_CASE(classes_may_be_on_another_axis) {
  const Tensor labels({2, 3}, std::vector<std::int64_t>{0, 1, 4, 2, 3, 1});
  const Tensor scores = random_tensor({2, 3, 5}, DType::float64);
  const Value moved = transpose(Value(scores), {0, 2, 1});
  const Value values = sparse_categorical_crossentropy(labels, moved, {.from_logits = true, .axis = 1});
  BOOST_TEST(values.tensor().equal(sparse_categorical_crossentropy(labels, scores, {.from_logits = true}).tensor()));
}

BOOST_AUTO_TEST_CASE(low_precision_predictions_are_computed_with_in_float32) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const Tensor y_pred = random_tensor({4, 3}, dtype), y_true = random_tensor({4, 3}, DType::float64, 2);
    const Value low = mean_squared_error(y_true, y_pred);
    BOOST_TEST((low.dtype() == DType::float32));
    BOOST_TEST(low.tensor().equal(mean_squared_error(y_true, y_pred.cast(DType::float32)).tensor()));
    const Tensor labels({4}, std::vector<std::int32_t>{0, 2, 1, 0});
    BOOST_TEST((sparse_categorical_crossentropy(labels, y_pred, {.from_logits = true}).dtype() == DType::float32));
  }
}

// A policy never rounds the inputs of a loss.
BOOST_AUTO_TEST_CASE(policies_do_not_reach_losses) {
  const detail::PolicyScope policy{Policy("bfloat16")};
  const Tensor y_true({1}, std::vector<float>{257}), y_pred({1}, std::vector<float>{256});
  BOOST_TEST(mean_absolute_error(Value(y_true).across_border(), Value(y_pred).across_border()).item() == 1);
}

// Op lists don't apply to the ops inside a loss: torch's mse_loss is one op.
BOOST_AUTO_TEST_CASE(op_lists_do_not_reach_losses) {
  const detail::PolicyScope policy{
      Policy(OpLists({.lower = std::vector<std::string>{"sub", "mul", "abs", "mean", "cross_entropy"},
                      .float32 = std::vector<std::string>{}}))};
  const Tensor y_true({1, 2}, std::vector<float>{257, 0}), y_pred({1, 2});
  BOOST_TEST(mean_absolute_error(y_true, y_pred).item() == 128.5);
  BOOST_TEST(mean_squared_error(y_true, y_pred).item() == 257 * 257 / 2.0);
  const Value losses = sparse_categorical_crossentropy(Tensor({1, 3}, DType::int64), Tensor({1, 3, 7}));
  BOOST_TEST((losses.dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(values_are_means_over_the_last_axis) {
  BOOST_TEST((mean_squared_error(Tensor({5}), Tensor({5})).shape() == Shape{5}));
  BOOST_TEST((mean_squared_error(Tensor({5, 1}), Tensor({5})).shape() == Shape{5}));
  BOOST_TEST((mean_squared_error(Tensor({5, 2, 3}), Tensor({5, 2, 3, 1})).shape() == Shape{5, 2}));
}

BOOST_AUTO_TEST_CASE(wrong_shapes_and_swapped_arguments_are_refused) {
  const Tensor labels({8}, DType::int64), logits({8, 37});
  BOOST_TEST(refused<ShapeError>([&] { sparse_categorical_crossentropy(logits, labels); }) ==
             "[sparse_categorical_crossentropy] y_true must have the shape of y_pred without its last axis, the "
             "classes; got y_true (8, 37) and y_pred (8,) (the arguments are y_true, y_pred)");
  BOOST_TEST(!refused<ShapeError>([&] { sparse_categorical_crossentropy(Tensor({7}, DType::int64), logits); }).empty());
  BOOST_TEST(refused<DTypeError>([&] { sparse_categorical_crossentropy(Tensor({8}), logits); }) ==
             "[sparse_categorical_crossentropy] y_true must be integer labels; got float32");
  BOOST_TEST(refused<DTypeError>([&] {
               mean_squared_error(logits, Tensor({8, 37}, DType::int64));
             }) == "[mean_squared_error] y_pred must be floating; got int64 (the arguments are y_true, y_pred)");
  BOOST_TEST(refused<ShapeError>([&] {
               mean_absolute_error(Tensor({8, 2}), Tensor({8, 3}));
             }) ==
             "[mean_absolute_error] y_true and y_pred must have the same shape; got y_true (8, 2) and y_pred (8, 3) "
             "(the arguments are y_true, y_pred)");
  BOOST_TEST(!refused<ShapeError>([&] { mean_absolute_error(Tensor({8}), Tensor({8, 3})); }).empty());
}

BOOST_AUTO_TEST_CASE(labels_out_of_range_are_refused) {
  const Tensor labels({2}, std::vector<std::int64_t>{0, 3}), logits({2, 3});
  BOOST_TEST(refused<ValueError>([&] { sparse_categorical_crossentropy(labels, logits); }) ==
             "[sparse_categorical_crossentropy] labels must be in [0, 3); got 3 at index 1");
}

// Without this, (batch,) and (batch, 1) broadcast to (batch, batch).
BOOST_AUTO_TEST_CASE(functions_get_values_of_one_rank) {
  const Tensor numbers({3}, std::vector<float>{1, 2, 4}), column({3, 1}, std::vector<float>{1, 1, 1});
  Shape seen;
  const detail::LossFunction loss([&seen](const Value& y_true, const Value& y_pred) {
    const Value difference = y_true - y_pred;
    seen = difference.shape();
    return square(difference);
  });
  BOOST_TEST(loss(numbers, column).item() == 10.0F / 3);
  BOOST_TEST((seen == Shape{3, 1}));
  BOOST_TEST(loss(column, numbers).item() == 10.0F / 3);
  BOOST_TEST((seen == Shape{3, 1}));
  loss(Tensor({2, 3, 1}), Tensor({2, 3}));
  BOOST_TEST((seen == Shape{2, 3}));
  loss(Tensor({2, 3}), Tensor({2, 3, 1}));
  BOOST_TEST((seen == Shape{2, 3}));
  loss(Tensor({2, 1}), Tensor({2, 3}));
  BOOST_TEST((seen == Shape{2, 3}));
}

BOOST_AUTO_TEST_CASE(names_are_keras) {
  for (const char* name : {"crossentropy", "bce", "KLD", "huber", "log_cosh", "CategoricalHinge", "dice", "circle",
                           "categorical_generalized_cross_entropy", "mse", "MSE", "mean_squared_error",
                           "MeanSquaredError", "mae", "MAE", "mean_absolute_error", "MeanAbsoluteError",
                           "sparse_categorical_crossentropy", "SparseCategoricalCrossentropy"}) {
    BOOST_TEST(Any<Loss>(name)->name() == name);
  }
  const Tensor zeros({1, 2}), ones({1, 2}, std::vector<float>{2, 2});
  BOOST_TEST(Any<Loss>("mse")->call(zeros, ones).item() == 4);
  BOOST_TEST(Any<Loss>("mae")->call(zeros, ones).item() == 2);
  BOOST_TEST(MeanSquaredError().name() == "mean_squared_error");
  BOOST_TEST(SparseCategoricalCrossentropy({.name = "ce"}).name() == "ce");
  const std::string unknown = refused<NameError>([] { Any<Loss>("msse"); });
  BOOST_TEST(unknown.rfind("unknown loss \"msse\"; valid names: BCE, BinaryCrossentropy, ", 0) == 0U);
  BOOST_TEST(unknown.find("mse, msle, poisson, sparse_categorical_crossentropy") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
