#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include <mezzo/ops/activation.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/precision.hpp"
#include "support/recorded.hpp"
#include "support/runs.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Call = std::function<Value(const Values&)>;

// A recorded array, in which NaN and infinities are texts.
Tensor numbers_of(const nlohmann::json& array) {
  std::vector<double> data;
  for (const auto& number : array.at("data")) {
    if (number.is_boolean()) {
      data.push_back(number.get<bool>() ? 1 : 0);
    } else {
      data.push_back(number.is_string() ? std::stod(number.get<std::string>()) : number.get<double>());
    }
  }
  return Tensor(array.at("shape").get<Shape>(), data).cast(dtype_from_name(array.at("dtype").get<std::string>()));
}

Call unary(Value (*function)(const Value&)) {
  return [function](const Values& x) { return function(x[0]); };
}

Call binary(Value (*function)(const Value&, const Value&)) {
  return [function](const Values& x) { return function(x[0], x[1]); };
}

// The functions of the cases by their names in tests/parity/ops.py.
std::map<std::string, Call> calls() {
  std::map<std::string, Call> all{
      {"round_decimals", [](const Values& x) { return round(x[0], 1); }},
      {"nan_to_num_options", [](const Values& x) { return nan_to_num(x[0], {.nan = 7, .posinf = 8, .neginf = -9}); }},
      {"power_number", [](const Values& x) { return power(x[0], 3.0); }},
      {"power_2", [](const Values& x) { return power(x[0], 2); }},
      {"clip", [](const Values& x) { return clip(x[0], -1.0, 1.5); }},
      {"isclose", [](const Values& x) { return isclose(x[0], x[1]); }},
      {"isclose_equal_nan", [](const Values& x) { return isclose(x[0], x[1], {.rtol = 0.2, .equal_nan = true}); }},
      {"where", [](const Values& x) { return where(x[0], x[1], x[2]); }},
      {"select",
       [](const Values& x) {
         return select({x[0]<-1, x[0]> 1}, {x[0] * 2, x[0] * 3}, 5.0);
       }},
      {"ldexp",
       [](const Values& x) {
         return ldexp(x[0], Tensor({5}, std::vector<std::int64_t>{1, -2, 0, 3, 4}));
       }},
      {"leaky_relu_slope", [](const Values& x) { return leaky_relu(x[0], 0.3); }},
      {"elu_alpha", [](const Values& x) { return elu(x[0], 0.5); }},
      {"celu_alpha", [](const Values& x) { return celu(x[0], 2); }},
      {"hard_shrink_threshold", [](const Values& x) { return hard_shrink(x[0], 1); }},
      {"soft_shrink_threshold", [](const Values& x) { return soft_shrink(x[0], 1); }},
      {"squareplus_b", [](const Values& x) { return squareplus(x[0], 1); }},
      {"threshold", [](const Values& x) { return threshold(x[0], 0.5, -2); }},
      {"glu_axis", [](const Values& x) { return glu(x[0], 0); }},
      {"log_softmax_axis", [](const Values& x) { return log_softmax(x[0], 0); }},
      {"round", [](const Values& x) { return round(x[0]); }},
      {"nan_to_num", [](const Values& x) { return nan_to_num(x[0]); }},
  };
  const std::pair<const char*, Value (*)(const Value&)> one[] = {{"abs", abs},
                                                                 {"ceil", ceil},
                                                                 {"cos", cos},
                                                                 {"cosh", cosh},
                                                                 {"deg2rad", deg2rad},
                                                                 {"erf", erf},
                                                                 {"erfc", erfc},
                                                                 {"exp", exp},
                                                                 {"exp2", exp2},
                                                                 {"expm1", expm1},
                                                                 {"floor", floor},
                                                                 {"negative", negative},
                                                                 {"rad2deg", rad2deg},
                                                                 {"sign", sign},
                                                                 {"sin", sin},
                                                                 {"sinc", sinc},
                                                                 {"sinh", sinh},
                                                                 {"square", square},
                                                                 {"tan", tan},
                                                                 {"tanh", tanh},
                                                                 {"trunc", trunc},
                                                                 {"arcsinh", arcsinh},
                                                                 {"arctan", arctan},
                                                                 {"cbrt", cbrt},
                                                                 {"sigmoid", sigmoid},
                                                                 {"relu", relu},
                                                                 {"softplus", softplus},
                                                                 {"reciprocal", reciprocal},
                                                                 {"log", log},
                                                                 {"log10", log10},
                                                                 {"log1p", log1p},
                                                                 {"log2", log2},
                                                                 {"rsqrt", rsqrt},
                                                                 {"sqrt", sqrt},
                                                                 {"arccos", arccos},
                                                                 {"arcsin", arcsin},
                                                                 {"arctanh", arctanh},
                                                                 {"erfinv", erfinv},
                                                                 {"arccosh", arccosh},
                                                                 {"isnan", isnan},
                                                                 {"isinf", isinf},
                                                                 {"isfinite", isfinite},
                                                                 {"isposinf", isposinf},
                                                                 {"isneginf", isneginf},
                                                                 {"signbit", signbit},
                                                                 {"angle", angle},
                                                                 {"bitwise_not", bitwise_not},
                                                                 {"logical_not", logical_not}};
  for (const auto& [name, function] : one) all[name] = unary(function);
  const std::pair<const char*, Value (*)(const Value&, const Value&)> two[] = {{"add", add},
                                                                               {"subtract", subtract},
                                                                               {"multiply", multiply},
                                                                               {"divide", divide},
                                                                               {"maximum", maximum},
                                                                               {"minimum", minimum},
                                                                               {"fmax", fmax},
                                                                               {"fmin", fmin},
                                                                               {"mod", mod},
                                                                               {"fmod", fmod},
                                                                               {"floor_divide", floor_divide},
                                                                               {"arctan2", arctan2},
                                                                               {"hypot", hypot},
                                                                               {"logaddexp", logaddexp},
                                                                               {"logaddexp2", logaddexp2},
                                                                               {"divide_no_nan", divide_no_nan},
                                                                               {"equal", equal},
                                                                               {"not_equal", not_equal},
                                                                               {"less", less},
                                                                               {"less_equal", less_equal},
                                                                               {"greater", greater},
                                                                               {"greater_equal", greater_equal},
                                                                               {"heaviside", heaviside},
                                                                               {"power", power},
                                                                               {"bitwise_and", bitwise_and},
                                                                               {"bitwise_or", bitwise_or},
                                                                               {"bitwise_xor", bitwise_xor},
                                                                               {"left_shift", left_shift},
                                                                               {"right_shift", right_shift},
                                                                               {"gcd", gcd},
                                                                               {"lcm", lcm},
                                                                               {"logical_and", logical_and},
                                                                               {"logical_or", logical_or},
                                                                               {"logical_xor", logical_xor}};
  for (const auto& [name, function] : two) all[name] = binary(function);
  return all;
}

// The function of a case: activation_NAME is the activation of that name, a suffix tells cases of one function apart.
Call call_of(const std::map<std::string, Call>& all, std::string name) {
  const auto without = [&](const std::string& end) {
    const bool ends = name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
    if (ends) name.resize(name.size() - end.size());
  };
  for (const char* suffix : {"_special", "_large", "_ties", "_integers", "_bools", "_of_zero", "_zero"})
    without(suffix);
  if (name.rfind("activation_", 0) == 0) {
    return [activation = ActivationFunction(name.substr(11))](const Values& x) { return activation(x[0]); };
  }
  return all.at(name);
}

// Gradients of sum(output * cotangent) for the float inputs.
TestedStep with_gradients_of(const Call& call, const nlohmann::json& expected) {
  return [call, &expected](const Values& x) {
    Values out{call(x)};
    if (!expected.contains("gradients")) return out;
    Values floats;
    for (const Value& input : x) {
      if (is_floating(input.dtype())) floats.push_back(input);
    }
    const Tensor cotangent = numbers_of(expected.at("cotangent")).cast(out[0].dtype());
    const Values gradients = mezzo::gradients(sum(out[0] * Value(cotangent)), floats);
    out.insert(out.end(), gradients.begin(), gradients.end());
    return out;
  };
}

// Equal to `tolerance`; recorded gradients of NaN, of JAX's power at 0, are 0 here.
void check_near(const Tensor& got, Tensor expected, double tolerance, bool gradient) {
  if (gradient && expected.dtype() == DType::float64) {
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      double& number = expected.mutable_data<double>()[i];
      if (std::isnan(number)) number = 0;
    }
  }
  BOOST_TEST(largest_difference(got, expected) <= tolerance);
}

void check_case(const Call& call, const nlohmann::json& expected, DType dtype, double tolerance) {
  TensorList inputs;
  for (const auto& x : expected.at("inputs")) {
    const Tensor input = numbers_of(x);
    inputs.push_back(is_floating(input.dtype()) ? input.cast(dtype) : input);
  }
  const detail::PolicyScope policy{Policy(dtype)};
  const TestedStep step = with_gradients_of(call, expected);
  const TensorList eager = run_in_eager_trace(step, inputs);
  Tensor output = numbers_of(expected.at("output"));
  if (dtype == DType::float32 && output.dtype() == DType::float64) {  // the largest number of float64: nan_to_num
    constexpr double largest = std::numeric_limits<float>::max();
    for (std::int64_t i = 0; i < output.size(); ++i) {
      double& number = output.mutable_data<double>()[i];
      if (std::isfinite(number)) number = std::min(std::max(number, -largest), largest);
    }
  }
  BOOST_TEST(is_floating(eager[0].dtype()) == is_floating(output.dtype()));
  if (!is_floating(output.dtype())) BOOST_TEST(dtype_name(eager[0].dtype()) == dtype_name(output.dtype()));
  check_near(eager[0], output, tolerance, false);
  for (std::size_t i = 1; i < eager.size(); ++i) {
    BOOST_TEST_CONTEXT("gradient " << i - 1) {
      check_near(eager[i], numbers_of(expected.at("gradients")[i - 1]), tolerance, true);
    }
  }
  const Graph graph = trace_step(step, inputs);
  for (const bool fuse : {false, true}) {
    const TensorList planned = run_compiled(graph, inputs, fuse);
    for (std::size_t i = 0; i < eager.size(); ++i) {
      BOOST_TEST(largest_difference(planned[i], eager[i]) == 0, "a plan, fused: " << fuse << ", result " << i);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keras_ops)

// In float64 and float32: values and gradients as Keras', and the same in plans, also fused ones.
BOOST_AUTO_TEST_CASE(values_and_gradients_are_those_of_keras) {
  const auto all = calls();
  for (const auto& [name, expected] : recorded("ops").items()) {
    const Call call = call_of(all, name);
    BOOST_TEST_CONTEXT(name << " in float64") check_case(call, expected, DType::float64, 1e-12);
    // Differences of special numbers aside, float32 rounds the operands of cancelling sums: large arguments of sine.
    BOOST_TEST_CONTEXT(name << " in float32") check_case(call, expected, DType::float32, 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(operators_are_functions) {
  const Value x = Tensor({3}, std::vector<float>{-1, 0, 2}), n = Tensor({3}, std::vector<std::int32_t>{5, 6, -7});
  const auto numbers = [](const Value& value) { return value.tensor().to_doubles(); };
  using Doubles = std::vector<double>;
  BOOST_TEST(numbers(x < 0) == (Doubles{1, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(numbers(x <= 0) == (Doubles{1, 1, 0}), boost::test_tools::per_element());
  BOOST_TEST(numbers(x > 0) == (Doubles{0, 0, 1}), boost::test_tools::per_element());
  BOOST_TEST(numbers(0 >= x) == (Doubles{1, 1, 0}), boost::test_tools::per_element());
  BOOST_TEST(numbers(n % 4) == (Doubles{1, 2, 1}), boost::test_tools::per_element());
  BOOST_TEST(numbers(n & 3) == (Doubles{1, 2, 1}), boost::test_tools::per_element());
  BOOST_TEST(numbers((x > 0) | (x < 0)) == (Doubles{1, 0, 1}), boost::test_tools::per_element());
  BOOST_TEST(numbers(~(x > 0)) == (Doubles{1, 1, 0}), boost::test_tools::per_element());
  BOOST_TEST(numbers(~n) == (Doubles{-6, -7, 6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(integers_keep_their_dtype_where_keras_keeps_it) {
  const Value n = Tensor({2}, std::vector<std::int32_t>{-7, 3});
  for (const Value& result : {abs(n), -n, sign(n), maximum(n, 1), mod(n, 2), floor_divide(n, 2), power(n, 3), square(n),
                              clip(n, 0, 5), trunc(n), round(n), n % 3}) {
    BOOST_TEST((result.dtype() == DType::int32));
  }
  for (const Value& result : {sqrt(n), sin(n), floor(n), hypot(n, n), maximum(n, 0.5), power(n, 0.5), elu(n)}) {
    BOOST_TEST((result.dtype() == DType::float32));
  }
  BOOST_TEST((square(n > 0).dtype() == DType::int32));
  BOOST_TEST(round(n, -1).tensor().to_doubles() == (std::vector<double>{-10, 0}), boost::test_tools::per_element());
  BOOST_TEST((isfinite(n).tensor().to_doubles() == std::vector<double>{1, 1}));
}

BOOST_AUTO_TEST_CASE(divisions_of_integers_have_no_traps) {
  const std::int32_t least = std::numeric_limits<std::int32_t>::min();
  const Value a = Tensor({3}, std::vector<std::int32_t>{least, 5, least}),
              b = Tensor({3}, std::vector<std::int32_t>{-1, 0, 0});
  BOOST_TEST(mod(a, b).tensor().to_doubles() == (std::vector<double>{0, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(floor_divide(a, b).tensor().to_doubles() == (std::vector<double>{static_cast<double>(least), 0, 0}),
             boost::test_tools::per_element());
  BOOST_TEST((left_shift(a, Tensor({3}, std::vector<std::int32_t>{32, -1, 40})).tensor().to_doubles() ==
              std::vector<double>{0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(gradients_at_zero_are_not_nan) {
  const TestedStep step = [](const Values& x) {
    const Value y = power(x[0], 0.0) + power(x[0], 2.0) + power(x[0], 1.0) + hypot(x[0], 0.0) + sinc(x[0]);
    return mezzo::gradients(sum(y), {x[0]});
  };
  const Tensor zero({1}, std::vector<float>{0});
  BOOST_TEST(run_in_eager_trace(step, {zero})[0].item() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
