// Optimizer states in 8 bits.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <mezzo/graph/coded_state.hpp>
#include <mezzo/mezzo.hpp>

#include "step.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t coded_size = 4099;  // the last block has 3 elements

using Numbers = std::vector<double>;

// The numbers of codes by the paper's definition, in double.
Numbers code_numbers(bool has_sign) {
  Numbers out{0, 1};
  for (int decade = 0; decade < 7; ++decade) {
    const int parts = 1 << (has_sign ? decade : decade + 1);
    for (int i = 0; i < parts; ++i) {
      const double x = std::pow(10, decade - 6) * (0.1 + 0.9 * (i + 0.5) / parts);
      out.push_back(x);
      if (has_sign) out.push_back(-x);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

void round_states(Numbers& x, bool has_sign) {
  static const Numbers with_sign = code_numbers(true), without = code_numbers(false);
  const Numbers& codes = has_sign ? with_sign : without;
  for (std::size_t begin = 0; begin < x.size(); begin += 256) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = x.begin() + static_cast<std::ptrdiff_t>(std::min(begin + 256, x.size()));
    const double scale = *std::max_element(first, last, [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (auto i = first; scale != 0 && i != last; ++i) {
      const double y = *i / scale;
      const auto above = std::lower_bound(codes.begin(), codes.end() - 1, y);
      double code = above != codes.begin() && y - *(above - 1) < *above - y ? *(above - 1) : *above;
      if (!has_sign && code == 0 && y > 0) code = codes[1];
      *i = code * scale;
    }
  }
}

Numbers gradient_at(int step) {
  Tensor g = random_tensor({coded_size}, DType::float32, 100 + static_cast<std::uint64_t>(step), -1, 1);
  for (std::int64_t i = 0; i < coded_size; ++i)
    g.mutable_data<float>()[i] *= std::pow(10.0F, -static_cast<float>(i % 5));
  return g.to_doubles();
}

std::shared_ptr<detail::VariableState> variable_of(std::int64_t size, DType dtype = DType::float32) {
  auto variable = std::make_shared<detail::VariableState>("kernel");
  variable->assign(random_tensor({size}, DType::float32, 1).cast(dtype));
  return variable;
}

// Compares ten steps with a rule in double: rule(step, g, w, m, v).
void check_trajectory(Optimizer& optimizer, int slots,
                      const std::function<void(int, double, double&, double&, double&)>& rule) {
  const auto variable = variable_of(coded_size);
  Numbers w = variable->value.to_doubles(), m(coded_size, 0.0), v(coded_size, 0.0);
  for (int t = 1; t <= 10; ++t) {
    const Numbers g = gradient_at(t);
    step(optimizer, {variable}, {Tensor({coded_size}, g).cast(DType::float32)}, 1);
    for (std::size_t i = 0; i < w.size(); ++i) rule(t, g[i], w[i], m[i], v[i]);
    round_states(m, true);
    round_states(v, false);
  }
  const Numbers actual = variable->value.to_doubles();
  double sum = 0;
  int far = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    sum += std::abs(actual[i] - w[i]);
    far += std::abs(actual[i] - w[i]) > 1e-5 ? 1 : 0;
  }
  // float32 rounds a few numbers to the other of two codes.
  BOOST_TEST(sum / coded_size < 1e-6);
  BOOST_TEST(far < coded_size / 200);
  const auto& states = optimizer.state()->slots[0].values;
  BOOST_TEST_REQUIRE(states.size() == static_cast<std::size_t>(slots));
  for (const auto& state : states) {
    BOOST_TEST(detail::is_coded(*state));
    BOOST_TEST(state->value.bytes() == static_cast<std::size_t>(coded_size));
    BOOST_TEST((state->remainder->value.shape() == Shape{17}));
    BOOST_TEST((state->numbers().dtype() == DType::float32));
  }
}

std::vector<float> states_after(Optimizer& optimizer, const Tensor& gradient, std::size_t slot) {
  const auto variable = variable_of(gradient.size());
  step(optimizer, {variable}, {gradient}, 1);
  const Tensor numbers = optimizer.state()->slots[0].values[slot]->numbers();
  return {numbers.data<float>(), numbers.data<float>() + numbers.size()};
}

template <class O, class Options>
std::string refusal(const Options& options) {
  return refused<Error>([&] { O optimizer(options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coded_states)

BOOST_AUTO_TEST_CASE(adamw_is_that_of_states_rounded_after_each_step) {
  AdamW optimizer({.learning_rate = 0.01, .weight_decay = 0.1, .state_dtype = "int8"});
  check_trajectory(optimizer, 2, [](int t, double g, double& w, double& m, double& v) {
    w -= 0.01 * 0.1 * w;
    m += (g - m) * (1 - 0.9);
    v += (g * g - v) * (1 - 0.999);
    w -= 0.01 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)) * m / (std::sqrt(v) + 1e-7);
  });
}

BOOST_AUTO_TEST_CASE(sgd) {
  SGD optimizer({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true, .state_dtype = "int8"});
  check_trajectory(optimizer, 1, [](int, double g, double& w, double& m, double&) {
    m = 0.9 * m - 0.1 * g;
    w += 0.9 * m - 0.1 * g;
  });
}

BOOST_AUTO_TEST_CASE(lion) {
  Lion optimizer({.learning_rate = 1e-6, .state_dtype = "int8"});  // one sign changes a weight by the rate
  check_trajectory(optimizer, 1, [](int, double g, double& w, double& m, double&) {
    const double c = 0.9 * m + 0.1 * g;
    m = 0.99 * m + 0.01 * g;
    w -= 1e-6 * (c > 0 ? 1 : c < 0 ? -1 : 0);
  });
}

BOOST_AUTO_TEST_CASE(rmsprop_and_adamax) {
  RMSprop rmsprop({.learning_rate = 0.01, .state_dtype = "int8"});
  const auto variable = variable_of(coded_size);
  const Tensor before = variable->value.copy();
  step(rmsprop, {variable}, {Tensor({coded_size}, gradient_at(1)).cast(DType::float32)}, 1);
  BOOST_TEST((rmsprop.state()->slots[0].values[0]->value.dtype() == DType::uint8));
  BOOST_TEST(!variable->value.equal(before));
  Adamax adamax({.state_dtype = "int8"});
  step(adamax, {variable}, {Tensor({coded_size}, gradient_at(1)).cast(DType::float32)}, 1);
  BOOST_TEST((adamax.state()->slots[0].values[0]->value.dtype() == DType::int8));
  BOOST_TEST((adamax.state()->slots[0].values[1]->value.dtype() == DType::uint8));
}

BOOST_AUTO_TEST_CASE(lamb_uses_the_norms_of_its_numbers) {
  Lamb coded({.learning_rate = 0.01, .state_dtype = "int8"}), wide({.learning_rate = 0.01});
  const auto a = variable_of(coded_size), b = variable_of(coded_size);
  for (int t = 1; t <= 3; ++t) {
    const Tensor g = Tensor({coded_size}, gradient_at(t)).cast(DType::float32);
    step(coded, {a}, {g}, 1);
    step(wide, {b}, {g}, 1);
  }
  BOOST_TEST(largest_difference(a->value, b->value) < 0.02);
}

BOOST_AUTO_TEST_CASE(small_and_double_variables_have_wide_states) {
  AdamW optimizer({.state_dtype = "int8"});
  const States variables{variable_of(4095), variable_of(4096), variable_of(5000, DType::float64), variable_of(0)};
  std::vector<Tensor> gradients;
  for (const auto& variable : variables) gradients.push_back(Tensor(variable->value.shape(), variable->value.dtype()));
  step(optimizer, variables, gradients, 1);
  const auto& slots = optimizer.state()->slots;
  BOOST_TEST((slots[0].values[0]->value.dtype() == DType::float32));
  BOOST_TEST((slots[1].values[0]->value.dtype() == DType::int8));
  BOOST_TEST((slots[1].values[1]->value.dtype() == DType::uint8));
  BOOST_TEST((slots[2].values[0]->value.dtype() == DType::float64));
  BOOST_TEST((slots[3].values[0]->value.dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_stay_so) {
  Tensor gradient({coded_size});
  gradient.mutable_data<float>()[300] = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t slot : {0, 1}) {
    AdamW optimizer({.state_dtype = "int8"});
    const std::vector<float> states = states_after(optimizer, gradient, slot);
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (std::isnan(states[i]) != (i >= 256 && i < 512)) BOOST_ERROR("state " << i << " is " << states[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(zeros_are_made_as_codes) {
  for (const DType code : {DType::int8, DType::uint8}) {
    detail::VariableState expected("slot"), actual("slot");
    expected.assign(Tensor({3, 100}));
    detail::encode(expected, code);
    detail::encode_zeros(actual, {3, 100}, code);
    BOOST_TEST(actual.filled);
    BOOST_TEST((actual.value.to_doubles() == expected.value.to_doubles()));
    BOOST_TEST((actual.remainder->value.to_doubles() == expected.remainder->value.to_doubles()));
    BOOST_TEST((actual.numbers().to_doubles() == Numbers(300, 0.0)));
  }
}

// A first value that is not 0, in an optimizer that stores 8 bits.
BOOST_AUTO_TEST_CASE(first_values_are_stored_as_codes) {
  class Ones : public AdamW {
   public:
    using AdamW::AdamW;
    Tensor initial_slot(const std::string& slot, const detail::VariableState& variable) const override {
      if (slot == slot_names()[0]) return AdamW::initial_slot(slot, variable);
      return Tensor(variable.value.shape(), std::vector<float>(static_cast<std::size_t>(variable.value.size()), 1.0F));
    }
  };
  Ones optimizer(AdamWOptions{.beta_2 = 0.5, .state_dtype = "int8"});
  const auto variable = variable_of(coded_size);
  step(optimizer, {variable}, {Tensor({coded_size})}, 1);
  const auto& states = optimizer.state()->slots[0].values;
  BOOST_TEST((states[0]->numbers().to_doubles() == Numbers(coded_size, 0.0)));
  BOOST_TEST((states[1]->numbers().to_doubles() == Numbers(coded_size, 0.5)));
}

BOOST_AUTO_TEST_CASE(zeros_stay_zeros) {
  for (const std::size_t slot : {0, 1}) {
    AdamW optimizer({.state_dtype = "int8"});
    for (const float x : states_after(optimizer, Tensor({coded_size}), slot)) BOOST_TEST(x == 0);
  }
}

BOOST_AUTO_TEST_CASE(refusals) {
  BOOST_TEST(refusal<AdamW>(AdamWOptions{.state_dtype = DType::float16}) ==
             "[AdamW] state_dtype must be float32, bfloat16 or int8; got float16");
  BOOST_TEST(refused<NameError>([] { AdamW({.state_dtype = "int4"}); }) ==
             "unknown state_dtype \"int4\"; valid names: float32, bfloat16, int8; nearest: \"int8\"");
  BOOST_TEST(refusal<Adagrad>(AdagradOptions{.state_dtype = "int8"}) ==
             "[Adagrad] state_dtype must be float32 or bfloat16, since 8 bits don't hold its sums; got int8");
  BOOST_TEST(refusal<Ftrl>(FtrlOptions{.state_dtype = "int8"}) ==
             "[Ftrl] state_dtype must be float32 or bfloat16, since 8 bits don't hold its sums; got int8");
  BOOST_TEST(refusal<ScheduleFreeAdamW>(ScheduleFreeAdamWOptions{.state_dtype = "int8"}) ==
             "[ScheduleFreeAdamW] state_dtype must be float32 or bfloat16, since 8 bits don't hold its iterates; got "
             "int8");
  BOOST_TEST(refusal<SGD>(SGDOptions{.state_dtype = "int8"}) ==
             "[SGD] state_dtype needs slots, so a momentum above 0; got 0");
  const AdamW optimizer({.state_dtype = "int8"});
  BOOST_TEST(refused<ValueError>([&] { optimizer.require_effect({variable_of(4095)}); }) ==
             "[AdamW] state_dtype of int8 acts on slots of variables with at least 4096 elements; none of 1 variables "
             "is");
  optimizer.require_effect({variable_of(4096)});
}

BOOST_AUTO_TEST_CASE(names_are_dtypes) {
  BOOST_TEST((AdamW({.state_dtype = "bfloat16"}).common().state_dtype == DType::bfloat16));
  BOOST_TEST((AdamW({.state_dtype = "float32"}).common().state_dtype == DType::float32));
  BOOST_TEST((AdamW({.state_dtype = DType::int8}).common().state_dtype == DType::int8));
}

BOOST_AUTO_TEST_SUITE_END()
