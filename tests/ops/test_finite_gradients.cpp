#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/ops/activations.hpp>
#include <mezzo/ops/grad.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/reductions.hpp>

using namespace mezzo;

// No gradient is NaN where the value is finite.

namespace {

using Unary = std::function<Value(const Value&)>;

std::vector<double> gradient(const Unary& function, const Tensor& x) {
  return grad([&](const Value& v) { return sum(function(v)); })(x).tensor().to_doubles();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(finite_gradients)

BOOST_AUTO_TEST_CASE(of_norms_of_zeros_are_zero) {
  const std::vector<double> none(4, 0);
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    const Tensor x({2, 2}, dtype);
    for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0, -1.0, -0.5, 0.0}) {
      const auto of_rows = [&](const Value& v) { return norm(v, {.ord = p, .axes = {1}}); };
      BOOST_TEST(gradient(of_rows, x) == none, p);
    }
    BOOST_TEST(gradient([](const Value& v) { return norm(v); }, x) == none);
    BOOST_TEST(gradient([](const Value& v) { return norm(v, {.ord = "fro"}); }, x) == none);
    BOOST_TEST(gradient([](const Value& v) { return normalize(v, -1, 3); }, x)[0] < INFINITY);
  }
  // A zero beside other numbers.
  const Tensor x({1, 3}, std::vector<float>{0, 3, -4});
  const auto slopes = gradient([](const Value& v) { return norm(v, {.ord = 0.5, .axes = {1}}); }, x);
  BOOST_TEST(slopes[0] == 0);
  BOOST_TEST(slopes[1] == (std::sqrt(3.0) + 2) / std::sqrt(3.0), boost::test_tools::tolerance(1e-6));
  BOOST_TEST(slopes[2] == -(std::sqrt(3.0) + 2) / 2, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(of_deviations_of_equal_numbers_are_zero) {
  const std::vector<double> none(4, 0);
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    const Tensor x = full({4}, 3, dtype);
    BOOST_TEST(gradient([](const Value& v) { return mezzo::std(v); }, x) == none);
    BOOST_TEST(gradient([](const Value& v) { return nanstd(v); }, x) == none);
  }
  const Tensor rows({2, 2}, std::vector<float>{5, 5, 1, 2});
  BOOST_TEST(gradient([](const Value& v) { return mezzo::std(v, {{1}}); }, rows) ==
             (std::vector<double>{0, 0, -0.5, 0.5}));
}

BOOST_AUTO_TEST_CASE(of_soft_labels_with_an_impossible_class) {
  const Tensor logits({1, 3}, std::vector<float>{-INFINITY, 0, 0}), labels({1, 3}, std::vector<float>{0, 0.25F, 0.75F});
  const auto loss = [&](const Value& v) { return categorical_crossentropy(labels, v, {.from_logits = true}); };
  BOOST_TEST(loss(logits).item() == std::log(2.0), boost::test_tools::tolerance(1e-6));
  BOOST_TEST(gradient(loss, logits) == (std::vector<double>{0, 0.25, -0.25}));
  const auto of_labels = [&](const Value& t) { return categorical_crossentropy(t, logits, {.from_logits = true}); };
  BOOST_TEST(gradient(of_labels, labels)[0] == 0);
  BOOST_TEST(gradient(of_labels, labels)[1] == std::log(2.0), boost::test_tools::tolerance(1e-6));
  // Without -infinity, a label of 0 has a gradient.
  const auto of_zeros = [](const Value& t) {
    return categorical_crossentropy(t, Tensor({1, 2}), {.from_logits = true});
  };
  BOOST_TEST(gradient(of_zeros, Tensor({1, 2}))[0] == std::log(2.0), boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(of_elementwise_functions) {
  const std::vector<std::pair<const char*, Value (*)(const Value&)>> functions{
      {"abs", abs},
      {"arctan", arctan},
      {"arctan2 of x, x", [](const Value& x) { return arctan2(x, x); }},
      {"arcsinh", arcsinh},
      {"cbrt", cbrt},
      {"cosh", cosh},
      {"divide_no_nan", [](const Value& x) { return divide_no_nan(x, x); }},
      {"elu", [](const Value& x) { return elu(x); }},
      {"erf", erf},
      {"erfc", erfc},
      {"exp", exp},
      {"exp2", exp2},
      {"expm1", expm1},
      {"gelu", [](const Value& x) { return gelu(x); }},
      {"approximate gelu", [](const Value& x) { return gelu(x, true); }},
      {"hard_sigmoid", hard_sigmoid},
      {"hypot of x, x", [](const Value& x) { return hypot(x, x); }},
      {"leaky_relu", [](const Value& x) { return leaky_relu(x); }},
      {"log1p", log1p},
      {"log_sigmoid", log_sigmoid},
      {"mish", mish},
      {"power", [](const Value& x) { return power(x, 3); }},
      {"relu", relu},
      {"relu6", relu6},
      {"selu", selu},
      {"sigmoid", sigmoid},
      {"silu", silu},
      {"sinc", sinc},
      {"sinh", sinh},
      {"softplus", softplus},
      {"softsign", softsign},
      {"squareplus", [](const Value& x) { return squareplus(x); }},
      {"tanh", tanh},
  };
  const Tensor x({7}, std::vector<float>{0, -0.0F, 1, -1, INFINITY, -INFINITY, -100});
  for (const auto& each : functions) {
    const auto values = each.second(x).tensor().to_doubles(), slopes = gradient(each.second, x);
    for (std::size_t i = 0; i < values.size(); ++i) {
      BOOST_TEST((!std::isfinite(values[i]) || !std::isnan(slopes[i])),
                 each.first << " at " << x.to_doubles()[i] << ": value " << values[i]);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
