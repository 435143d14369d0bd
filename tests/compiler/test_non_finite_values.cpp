// Plans and eager steps with NaN or an infinity in one place.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "compiler/steps.hpp"
#include "support/precision.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A step with a pattern that the passes fuse.
struct Pattern {
  std::string name;
  std::vector<Shape> operands;  // the last one is the cotangent of the result
  std::function<Value(const Values&)> result;
  std::string fused;                // op of a node of the compiled step
  std::vector<std::string> absent;  // ops without a node in it
};

Value bordered_relu(const Value& product, const Value& bias) { return relu(product + bias); }

Value norm_of(const Value& x) {
  const DType wide = accumulation_dtype(x.dtype());
  const auto of = [&](std::uint64_t seed, double low) { return random_tensor({x.shape().back()}, wide, seed, low, 2); };
  return batch_norm(x, of(21, 0.5), of(22, -1), of(23, -1), of(24, 0.5)).y;
}

/// Small outputs and large ones, whose ReLU is computed in different ways; convolutions by sums and by Winograd's
/// algorithm.
const std::vector<Pattern>& patterns() {
  const auto dense = [](const Values& v) { return bordered_relu(matmul(v[0], v[1]), v[2]); };
  const auto convolution = [](const Values& v) { return bordered_relu(conv2d(v[0], v[1]), v[2]); };
  static const std::vector<Pattern> all{
      {"bias",
       {{5, 3}, {3, 4}, {4}, {5, 4}},
       [](const Values& v) { return matmul(v[0], v[1]) + v[2]; },
       "matmul",
       {"add"}},
      {"relu", {{5, 3}, {3, 4}, {5, 4}}, [](const Values& v) { return relu(matmul(v[0], v[1])); }, "matmul", {"relu"}},
      {"bias, relu", {{5, 3}, {3, 4}, {4}, {5, 4}}, dense, "relu_bias_gradient", {"add", "relu", "relu_gradient"}},
      {"large", {{160, 6}, {6, 128}, {128}, {160, 128}}, dense, "matmul", {"add", "relu"}},
      {"convolution", {{2, 6, 6, 3}, {3, 3, 3, 4}, {4}, {2, 4, 4, 4}}, convolution, "conv2d", {"add", "relu"}},
      {"large convolution",
       {{2, 30, 30, 3}, {3, 3, 3, 16}, {16}, {2, 28, 28, 16}},
       convolution,
       "conv2d",
       {"add", "relu"}},
      {"winograd", {{1, 30, 30, 64}, {3, 3, 64, 48}, {48}, {1, 28, 28, 48}}, convolution, "conv2d", {"add", "relu"}},
      {"norm, relu",
       {{8, 5}, {8, 5}},
       [](const Values& v) { return relu(norm_of(v[0] * 1.0)); },
       "batch_norm",
       {"relu", "relu_gradient"}},
      {"norm, relu6",
       {{8, 5}, {8, 5}},
       [](const Values& v) { return relu6(norm_of(v[0] * 4.0)); },
       "batch_norm",
       {"relu", "relu_gradient"}},
      {"norm, residual, relu6",
       {{8, 5}, {8, 5}, {8, 5}},
       [](const Values& v) {
         const Value residual = v[1] * 3.0;
         return relu6(norm_of(v[0] * 1.0) + residual);
       },
       "batch_norm",
       {"relu", "relu_gradient"}},
      {"norm, residual, relu",
       {{8, 5}, {8, 5}, {8, 5}},
       [](const Values& v) {
         const Value residual = v[1] * 1.0;  // before the norm: compilers differ in the order of operands
         return relu(norm_of(v[0] * 1.0) + residual);
       },
       "batch_norm",
       {"relu", "relu_gradient"}},
      {"cast there and back",
       {{5, 4}, {5, 4}},
       [](const Values& v) {
         const Value x = v[0] * 1.0;
         return cast(cast(x, DType::float64), x.dtype());
       },
       "multiply",
       {}}};
  return all;
}

/// Operands of a pattern: input 0, variables, and the cotangent as input 1.
struct Step {
  const Pattern& pattern;
  std::string policy;
  TensorList inputs;
  std::vector<VariablePointer> variables;

  Step(const Pattern& of, std::string name) : pattern(of), policy(std::move(name)) {
    for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
      const bool is_input = i == 0 || i + 1 == pattern.operands.size();
      if (is_input) inputs.push_back(operand(i));
      if (!is_input) variables.push_back(make_variable("w", operand(i)));
    }
  }

  Tensor operand(std::size_t i) const {
    return small_integers(pattern.operands[i], Policy(policy).variable_dtype(), i + 1);
  }

  /// Sets an operand.
  void set(std::size_t i, const Tensor& value) {
    if (i > 0 && i + 1 < pattern.operands.size()) {
      variables[i - 1]->assign(value);
    } else {
      inputs[i == 0 ? 0 : 1] = value;
    }
  }

  /// The result and the gradients of all operands but the cotangent.
  Values operator()(const Values& x) const {
    const detail::PolicyScope scope((Policy(policy)));
    Values v{x[0].across_border()}, leaves{x[0]};
    for (const VariablePointer& variable : variables) {
      v.push_back(read_variable(variable));
      leaves.push_back(Trace::current()->read(variable));
    }
    const Value y = pattern.result(v);
    const DType wide = accumulation_dtype(y.dtype());
    Values out{y};
    for (const Value& gradient : gradients(sum(cast(y, wide) * cast(x[1], wide)), leaves)) out.push_back(gradient);
    return out;
  }
};

/// The first element of an output in which two runs disagree: NaN, infinity, or with `close` a number; "" if there is
/// none.
std::string disagreement(const TensorList& compiled, const TensorList& eager, bool close) {
  for (std::size_t k = 0; k < eager.size(); ++k) {
    const std::vector<double> a = compiled[k].to_doubles(), b = eager[k].to_doubles();
    double largest = 1;
    for (const double x : b) largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : largest;
    for (std::size_t i = 0; i < b.size(); ++i) {
      const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
      const bool finite = std::isfinite(a[i]) && std::isfinite(b[i]);
      if (same || (finite && (!close || std::abs(a[i] - b[i]) < 1e-4 * largest))) continue;
      return fmt::format("output {}, element {}: compiled {}, eager {}", k, i, a[i], b[i]);
    }
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(non_finite_values)

BOOST_AUTO_TEST_CASE(every_pattern_is_fused_in_every_policy) {
  for (const std::string& policy : policy_names) {
    for (const Pattern& pattern : patterns()) {
      const Step step(pattern, policy);
      const Graph graph = run_passes(trace_step(step, step.inputs, true));
      BOOST_TEST_CONTEXT(policy << ", " << pattern.name) {
        const bool half_bias = pattern.fused == "relu_bias_gradient" && dtype_size(step.variables[1]->dtype()) == 2;
        if (half_bias) continue;  // keeps its own sum, by design
        // Under mixed policies the product is in a chain with the casts of its operands.
        const int chains = pattern.fused == "multiply" ? count_nodes(graph, "elementwise_chain") : 0;
        BOOST_TEST(count_nodes(graph, pattern.fused) + chains > 0);
        for (const std::string& op : pattern.absent) BOOST_TEST(count_nodes(graph, op) == 0, op);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(plans_equal_eager_steps) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::string& policy : policy_names) {
    const bool wide = policy == "float32" || policy == "float64";
    for (const Pattern& pattern : patterns()) {
      const bool slow = pattern.name == "winograd" && policy == "float64";  // by the reference
      if (slow && std::getenv("MEZZO_TEST_SMALL") != nullptr) continue;
      Step step(pattern, policy);
      detail::Plan plan = planned(trace_step(step, step.inputs, true));
      for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
        const Tensor operand = step.operand(i);
        for (const double number : {std::nan(""), infinity, -infinity}) {
          std::vector<double> numbers = operand.to_doubles();
          numbers[numbers.size() / 2] = number;
          step.set(i, Tensor(operand.shape(), numbers).cast(operand.dtype()));
          plan.run(step.inputs, {});
          BOOST_TEST(disagreement(outputs_of(plan), run_in_eager_trace(step, step.inputs, true), wide) == "",
                     policy << ", " << pattern.name << ", " << number << " in operand " << i);
        }
        step.set(i, operand);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
