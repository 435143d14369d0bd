#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/recorded.hpp"
#include "support/runs.hpp"

// Compares functions of Values with cases of tests/parity/cases.py.
namespace mezzo_tests {

using Function = std::function<mezzo::Values(const mezzo::Values&)>;

// One function of one operand.
template <class Call>
Function of(Call call) {
  return [call](const mezzo::Values& x) { return mezzo::Values{call(x[0])}; };
}

// One function of two operands.
template <class Call>
Function of_two(Call call) {
  return [call](const mezzo::Values& x) { return mezzo::Values{call(x[0], x[1])}; };
}

using FunctionTable = std::map<std::string, Function>;

inline TensorList tensors(const nlohmann::json& arrays) {
  TensorList out;
  for (const auto& entry : arrays) out.push_back(recorded_tensor(entry));
  return out;
}

// Positions are int64 here and int32 in Keras, so integers are compared by value.
inline void check_equal(const mezzo::Tensor& result, const mezzo::Tensor& expected, double tolerance) {
  BOOST_TEST_REQUIRE(result.shape() == expected.shape(), boost::test_tools::per_element());
  BOOST_TEST(mezzo::is_floating(result.dtype()) == mezzo::is_floating(expected.dtype()));
  const std::vector<double> x = result.to_doubles(), y = expected.to_doubles();
  double largest = 1;
  for (const double number : y) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || std::abs(x[i] - y[i]) <= tolerance * largest) continue;
    BOOST_ERROR("element " << i << " is " << x[i] << ", in Keras " << y[i]);
    return;
  }
}

// The case's outputs and the gradients of sum(first output * cotangent), with floating inputs in `dtype`.
inline void check_case(const Function& function, const nlohmann::json& entry, mezzo::DType dtype, double tolerance) {
  TensorList inputs = tensors(entry["inputs"]);
  for (mezzo::Tensor& input : inputs) {
    if (mezzo::is_floating(input.dtype())) input = input.cast(dtype);
  }
  const std::vector<std::size_t> floats = entry.value("differentiable", std::vector<std::size_t>{});
  const TensorList results = run_in_eager_trace(
      [&](const mezzo::Values& x) {
        mezzo::Values out = function(x);
        if (floats.empty()) return out;
        mezzo::Values xs;
        for (const std::size_t i : floats) xs.push_back(x[i]);
        const mezzo::Value cotangent = recorded_tensor(entry["cotangent"]).cast(dtype);
        const mezzo::Values gradients = mezzo::gradients(mezzo::sum(out[0] * cotangent), xs);
        out.insert(out.end(), gradients.begin(), gradients.end());
        return out;
      },
      inputs, true);
  TensorList expected = tensors(entry["outputs"]);
  if (!floats.empty()) {
    for (const mezzo::Tensor& gradient : tensors(entry["gradients"])) expected.push_back(gradient);
  }
  BOOST_TEST_REQUIRE(results.size() == expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    BOOST_TEST_CONTEXT("result " << i) check_equal(results[i], expected[i], tolerance);
  }
}

// Largest error with operands of that dtype against float64 on the same numbers, relative to the largest element of a
// result.
inline double half_error(const Function& function, const nlohmann::json& entry, mezzo::DType dtype) {
  TensorList narrow = tensors(entry["inputs"]), wide = narrow;
  bool floating = false;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    if (!mezzo::is_floating(narrow[i].dtype())) continue;
    floating = true;
    narrow[i] = narrow[i].cast(dtype);
    wide[i] = narrow[i].cast(mezzo::DType::float64);
  }
  if (!floating) return 0;
  const TensorList results = run_in_eager_trace(function, narrow, true),
                   expected = run_in_eager_trace(function, wide, true);
  double worst = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::vector<double> x = results[i].to_doubles(), y = expected[i].to_doubles(),
                              rounded = expected[i].cast(results[i].dtype()).to_doubles();
    double largest = 1;
    for (const double number : rounded) {
      if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
    }
    for (std::size_t j = 0; j < x.size(); ++j) {
      const bool equal = x[j] == rounded[j] || (std::isnan(x[j]) && std::isnan(rounded[j]));
      if (!equal) worst = std::max(worst, std::abs(x[j] - y[j]) / largest);
    }
  }
  return worst;
}

// Checks every recorded case of `file` with the function of its name, in float64, float32 and halves. `coarse` has the
// tolerances of cases that Keras itself computes with fewer digits.
inline void check_recorded(const std::string& file, const FunctionTable& functions,
                           const std::map<std::string, double>& coarse = {}) {
  std::set<std::string> names, tested;
  for (const auto& [name, entry] : recorded(file).items()) {
    names.insert(name);
    const auto function = functions.find(name);
    if (function == functions.end()) continue;
    tested.insert(name);
    const double exact = coarse.count(name) != 0 ? coarse.at(name) : 1e-9;
    BOOST_TEST_CONTEXT(name) {
      BOOST_CHECK_NO_THROW(check_case(function->second, entry, mezzo::DType::float64, exact));
      BOOST_CHECK_NO_THROW(check_case(function->second, entry, mezzo::DType::float32, std::max(exact, 1e-5)));
      // Halves have 8 and 11 bits. A function rounds after each of its ops: four roundings of the largest element.
      for (const mezzo::DType dtype : {mezzo::DType::bfloat16, mezzo::DType::float16}) {
        const double unit = dtype == mezzo::DType::bfloat16 ? 1.0 / 256 : 1.0 / 2048;
        double units = 0;
        BOOST_CHECK_NO_THROW(units = half_error(function->second, entry, dtype) / unit);
        BOOST_TEST(units <= 4, mezzo::dtype_name(dtype) << ": " << units << " units");
      }
    }
  }
  BOOST_TEST(tested == names, boost::test_tools::per_element());
}

}  // namespace mezzo_tests
