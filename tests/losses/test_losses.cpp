#include <boost/test/unit_test.hpp>

#include <mezzo/graph/trace.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/losses/mean_squared_error.hpp>
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

// Compares values and gradients in float64 and float32 with Keras'.
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
      BOOST_TEST(largest_difference(values.tensor(), recorded_tensor(expected.at("values"))) <= tolerances[i]);
      BOOST_TEST(std::abs(mean(values).item() - expected.at("mean").get<double>()) <=
                 tolerances[i] * (1 + std::abs(expected.at("mean").get<double>())));
      const Value cotangent = recorded_tensor(expected.at("cotangent")).cast(dtypes[i]);
      const Value gradient = gradients(sum(values * cotangent), {y_pred}).front();
      BOOST_TEST(largest_difference(gradient.tensor(), recorded_tensor(expected.at("gradient"))) <= tolerances[i]);
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
  const PolicyScope policy{Policy("bfloat16")};
  const Tensor y_true({1}, std::vector<float>{257}), y_pred({1}, std::vector<float>{256});
  BOOST_TEST(mean_absolute_error(Value(y_true).across_border(), Value(y_pred).across_border()).item() == 1);
}

// Op lists don't apply to the ops inside a loss: torch's mse_loss is one op.
BOOST_AUTO_TEST_CASE(op_lists_do_not_reach_losses) {
  const PolicyScope policy{
      Policy(OpLists({.lower = std::vector<std::string>{"sub", "mul", "abs", "mean", "cross_entropy"},
                      .float32 = std::vector<std::string>{}}))};
  const Tensor y_true({1, 2}, std::vector<float>{257, 0}), y_pred({1, 2});
  BOOST_TEST(mean_absolute_error(y_true, y_pred).item() == 128.5);
  BOOST_TEST(mean_squared_error(y_true, y_pred).item() == 257 * 257 / 2.0);
  const Value losses = sparse_categorical_crossentropy(Tensor({1, 3}, DType::int64), Tensor({1, 3, 7}));
  BOOST_TEST((losses.dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(one_number_per_sample) {
  BOOST_TEST((mean_squared_error(Tensor({5}), Tensor({5})).shape() == Shape{5}));
  BOOST_TEST((mean_squared_error(Tensor({5, 1}), Tensor({5})).shape() == Shape{5}));
  BOOST_TEST((mean_squared_error(Tensor({5, 2, 3}), Tensor({5, 2, 3, 1})).shape() == Shape{5}));
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

BOOST_AUTO_TEST_CASE(names_are_keras) {
  for (const char* name : {"mse", "MSE", "mean_squared_error", "MeanSquaredError", "mae", "MAE", "mean_absolute_error",
                           "MeanAbsoluteError", "sparse_categorical_crossentropy", "SparseCategoricalCrossentropy"}) {
    BOOST_TEST(Any<Loss>(name)->name() == name);
  }
  const Tensor zeros({1, 2}), ones({1, 2}, std::vector<float>{2, 2});
  BOOST_TEST(Any<Loss>("mse")->call(zeros, ones).item() == 4);
  BOOST_TEST(Any<Loss>("mae")->call(zeros, ones).item() == 2);
  BOOST_TEST(MeanSquaredError().name() == "mean_squared_error");
  BOOST_TEST(SparseCategoricalCrossentropy({.name = "ce"}).name() == "ce");
  BOOST_TEST(refused<NameError>([] { Any<Loss>("msse"); }) ==
             "unknown loss \"msse\"; valid names: MAE, MSE, MeanAbsoluteError, MeanSquaredError, "
             "SparseCategoricalCrossentropy, mae, mean_absolute_error, mean_squared_error, mse, "
             "sparse_categorical_crossentropy");
}

BOOST_AUTO_TEST_SUITE_END()
