#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <mezzo/backends/table.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/precision/policy.hpp>

#include "support/kernels.hpp"
#include "support/op_row.hpp"
#include "support/precision.hpp"
#include "support/runs.hpp"

// Checks that every op must pass, for one row of the table of ops.
namespace mezzo_tests {

// Weights for sum(output * weights), whose gradient reaches all elements: multiples of 1/8, exact in every dtype.
inline mezzo::Tensor loss_weights(const mezzo::Value& output) {
  mezzo::Tensor weights = random_tensor(output.shape(), mezzo::DType::float64, 77, 4, 13, true);
  for (std::int64_t i = 0; i < weights.size(); ++i) weights.mutable_data<double>()[i] /= 8;
  return weights.cast(output.dtype());
}

// The row's outputs, then the gradients of sum(first output * weights) for its differentiable arguments.
inline TestedStep with_gradients(const OpRow& row) {
  return [row](const mezzo::Values& arguments) {
    mezzo::Values out = row.call(arguments);
    if (row.differentiable.empty()) return out;
    mezzo::Values xs;
    for (const std::size_t i : row.differentiable) xs.push_back(arguments[i]);
    const mezzo::Values gradients = mezzo::gradients(sum(out[0] * loss_weights(out[0])), xs);
    out.insert(out.end(), gradients.begin(), gradients.end());
    return out;
  };
}

inline TensorList tensors_of(const mezzo::Values& values) {
  TensorList out;
  for (const mezzo::Value& value : values) out.push_back(value.tensor());
  return out;
}

// Outputs at float64 equal those of plain loops up to the last bits.
inline void check_values(const OpRow& row) {
  const TensorList arguments = arguments_in(row, mezzo::DType::float64);
  const TensorList outputs = run_in_eager_trace(row.call, arguments, row.training);
  const TensorList expected = row.plain(arguments);
  BOOST_TEST_REQUIRE(outputs.size() == expected.size());
  BOOST_TEST_REQUIRE(outputs.size() == row.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    BOOST_TEST_CONTEXT("output " << i) {
      BOOST_TEST((outputs[i].dtype() == row.outputs[i].in(mezzo::DType::float64)));
      BOOST_TEST(outputs[i].shape() == expected[i].shape(), boost::test_tools::per_element());
      if (is_floating(outputs[i].dtype())) {
        const double noise = 4 * epsilon(outputs[i].dtype()) * std::max(1.0, std::sqrt(row.depth));
        BOOST_TEST(largest_difference(outputs[i], expected[i]) <= noise);
      } else {
        BOOST_TEST(outputs[i].equal(expected[i]));
      }
    }
  }
}

// x + step * direction
inline mezzo::Tensor moved(const mezzo::Tensor& x, const mezzo::Tensor& direction, double step) {
  mezzo::Tensor out = x;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    out.mutable_data<double>()[i] += step * direction.data<double>()[i];
  }
  return out;
}

// Gradients at float64 along random directions equal central differences, which have an error of about 1e-10 here.
inline void check_gradients(const OpRow& row) {
  const bool has_gradient = static_cast<bool>(mezzo::find_op(row.op).gradient);
  if (row.differentiable.empty()) return;
  BOOST_TEST(has_gradient);
  const TensorList arguments = arguments_in(row, mezzo::DType::float64);
  const auto loss_at = [&](const TensorList& at) {
    const mezzo::Tensor output = run_in_eager_trace(row.call, at, row.training)[0];
    return dot(output, loss_weights(mezzo::Value(output)));
  };
  const TensorList results = run_in_eager_trace(with_gradients(row), arguments, row.training);
  constexpr double step = 1e-6;
  for (std::size_t k = 0; k < row.differentiable.size(); ++k) {
    const std::size_t i = row.differentiable[k];
    const mezzo::Tensor& gradient = results[row.outputs.size() + k];
    BOOST_TEST_CONTEXT("argument " << i) {
      BOOST_TEST((gradient.dtype() == mezzo::DType::float64));
      BOOST_TEST(gradient.shape() == arguments[i].shape(), boost::test_tools::per_element());
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const mezzo::Tensor direction = random_tensor(arguments[i].shape(), mezzo::DType::float64, 100 + seed);
        TensorList up = arguments, down = arguments;
        up[i] = moved(arguments[i], direction, step);
        down[i] = moved(arguments[i], direction, -step);
        const double expected = (loss_at(up) - loss_at(down)) / (2 * step);
        BOOST_TEST(std::abs(dot(gradient, direction) - expected) <= 1e-7 + 1e-6 * std::abs(expected));
      }
    }
  }
}

// The operands of a node of a traced row: arguments of the row, and constants.
inline TensorList operands_of(const mezzo::detail::Node& node, const mezzo::Graph& graph, const TensorList& arguments) {
  TensorList out;
  for (const mezzo::Value& input : node.inputs) {
    const mezzo::detail::NodePtr& source = input.node();
    if (source->op->name == "constant") {
      out.push_back(source->attributes.get<mezzo::Tensor>("value"));
      continue;
    }
    const auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                    [&](const mezzo::Value& leaf) { return leaf.same_as(input); });
    if (found == graph.inputs.end()) throw std::runtime_error("an operand of " + node.op->name + " is computed");
    out.push_back(arguments[static_cast<std::size_t>(found - graph.inputs.begin())]);
  }
  return out;
}

inline mezzo::KernelRequest request_of(const mezzo::detail::NodePtr& node) {
  mezzo::KernelRequest request{node->op, node->attributes, {}, node->outputs, node->where};
  for (const mezzo::Value& input : node->inputs) request.inputs.push_back({input.shape(), input.dtype()});
  return request;
}

// Largest allowed distance of a result from the exact one. The rounding errors of a sum of `depth` terms of about 1
// add up as a random walk: sqrt(depth) times some units in the accumulator's last place; 4 units are allowed.
inline double allowed(const OpRow& row, double exact, mezzo::DType dtype, mezzo::DType operands) {
  const mezzo::DType accumulator = mezzo::accumulation_dtype(dtype);
  const double sums = 4 * epsilon(accumulator) * std::sqrt(row.depth) * std::max(1.0, std::abs(exact));
  const bool rounded = operands == mezzo::DType::bfloat16;
  const double factors = !rounded ? 0 : dtype == operands ? row.bfloat16_error : row.accumulated_error;
  return row.ulps * ulp(dtype, exact) + sums + factors;
}

inline void check_close(const OpRow& row, const mezzo::Tensor& result, const mezzo::Tensor& exact,
                        mezzo::DType operands) {
  BOOST_TEST_REQUIRE(result.shape() == exact.shape(), boost::test_tools::per_element());
  const std::vector<double> x = result.to_doubles(), y = exact.to_doubles();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double bound = is_floating(result.dtype()) ? allowed(row, y[i], result.dtype(), operands) : 0;
    const bool both_nan = std::isnan(x[i]) && std::isnan(y[i]);  // means of no elements
    if (x[i] == y[i] || both_nan || std::abs(x[i] - y[i]) <= bound) continue;
    BOOST_ERROR("element " << i << " is " << x[i] << ", exactly " << y[i] << ": " << std::abs(x[i] - y[i])
                           << " apart, allowed " << bound);
    return;
  }
}

// Results of the reference at float64, for the same numbers.
inline TensorList exact_results(const OpRow& row, const TensorList& arguments) {
  TensorList wide = arguments;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (!row.arguments[i].role.is_fixed()) wide[i] = wide[i].cast(mezzo::DType::float64);
  }
  const mezzo::Graph graph = trace_step(row.call, wide, row.training);
  const mezzo::detail::NodePtr node = find_node(graph, row.op);
  mezzo::Attributes attributes;  // without copy_dtype, which the reference does not implement
  for (const auto& [name, value] : node->attributes.entries()) {
    if (name != "copy_dtype") attributes.set(name, value);
  }
  TensorList exact = run_reference(row.op, attributes, operands_of(*node, graph, wide));
  if (node->attributes.has("copy_dtype")) exact.push_back(exact[0]);
  return exact;
}

// Compares all kernels of one row at one dtype with the reference.
class KernelCheck {
 public:
  KernelCheck(const OpRow& row, mezzo::DType dtype) : row_(row), dtype_(dtype) {}

  // Runs each implementation that accepts the request. Returns their names.
  std::set<std::string> run() {
    std::set<std::string> ran;
    const TensorList arguments = arguments_in(row_, dtype_);
    const mezzo::Graph graph = trace_step(row_.call, arguments, row_.training);
    const mezzo::detail::NodePtr node = find_node(graph, row_.op);
    const mezzo::KernelRequest request = request_of(node);
    const TensorList operands = operands_of(*node, graph, arguments);
    for (const mezzo::detail::Implementation& implementation : mezzo::kernel_table()) {
      if (implementation.op->name != row_.op) continue;
      std::string reason;
      const auto kernel = implementation.create(request, reason);
      if (!kernel) {
        // Those for few of the requests give no reason against the others.
        const std::set<std::string> special{"apart", "bfloat16", "emulated", "few_rows", "few_taps",
                                            "gemm",  "int8",     "outer",    "packed"};
        BOOST_TEST((special.count(implementation.name) > 0 || !reason.empty()),
                   implementation.name << " declines without a reason");
        continue;
      }
      ran.insert(implementation.name);
      BOOST_TEST_CONTEXT(implementation.name << " " << kernel->detail()) {
        check(*kernel, request, operands, arguments);
        BOOST_TEST(count_safe_overwrites(implementation.name, row_.op, request.attributes, operands) >= 0);
      }
    }
    BOOST_TEST(!ran.empty(), "no implementation takes it");
    return ran;
  }

 private:
  void check(mezzo::Kernel& kernel, const mezzo::KernelRequest& request, const TensorList& operands,
             const TensorList& arguments) {
    const TensorList results = run_kernel(kernel, request, operands);
    const TensorList exact = exact_results(row_, arguments);
    for (std::size_t i = 0; i < results.size(); ++i) {
      BOOST_TEST_CONTEXT("output " << i) check_close(row_, results[i], exact[i], operands[0].dtype());
    }
    if (!row_.exact_on_integers) return;
    const TensorList integers = small(arguments);
    const TensorList counted = run_kernel(kernel, request, integers);
    const TensorList expected = exact_results(row_, integers);
    for (std::size_t i = 0; i < counted.size(); ++i) {
      BOOST_TEST(largest_difference(counted[i], expected[i].cast(counted[i].dtype())) == 0, "integers, output " << i);
    }
  }

  TensorList small(const TensorList& arguments) const {
    TensorList out = arguments;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (row_.arguments[i].role.is_fixed()) continue;
      out[i] = small_integers(out[i].shape(), out[i].dtype(), 40 + i);
    }
    return out;
  }

  const OpRow& row_;
  mezzo::DType dtype_;
};

inline void check_same_bits(const TensorList& left, const TensorList& right, const std::string& what) {
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    BOOST_TEST(left[i].equal(right[i]), what << ", result " << i << " of " << left[i].describe());
  }
}

// A row gives the same bits outside of a trace, in an eager trace and in an unfused plan. A fused plan rounds in
// another order, so its results are close.
inline void check_eager_and_traced(const OpRow& row, mezzo::DType dtype) {
  const TensorList arguments = arguments_in(row, dtype);
  const TestedStep step = with_gradients(row);
  const TensorList eager = run_in_eager_trace(step, arguments, row.training);
  const mezzo::Graph graph = trace_step(step, arguments, row.training);
  const TensorList planned = run_compiled(graph, arguments, false);
  BOOST_TEST_REQUIRE(planned.size() == row.outputs.size() + row.differentiable.size());
  check_same_bits(planned, eager, "plan and eager trace");
  if (!row.training) check_same_bits(tensors_of(row.call(values_of(arguments))), eager, "without and within a trace");
  const TensorList fused = run_compiled(graph, arguments, true);
  for (std::size_t i = 0; i < planned.size(); ++i) check_close(row, fused[i], planned[i], planned[i].dtype());
}

// Gradients have their argument's dtype. They differ from those at float64 by a few roundings: at most 4 units of the
// largest one, and the rounding errors of sums.
inline void check_gradients_in(const OpRow& row, mezzo::DType dtype) {
  if (row.differentiable.empty()) return;
  const TensorList arguments = arguments_in(row, dtype);
  TensorList wide;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    wide.push_back(row.arguments[i].role.is_fixed() ? arguments[i] : arguments[i].cast(mezzo::DType::float64));
  }
  const auto gradients = [&](const TensorList& at) {
    return run_in_eager_trace(with_gradients(row), at, row.training);
  };
  const TensorList narrow = gradients(arguments), exact = gradients(wide);
  for (std::size_t k = 0; k < row.differentiable.size(); ++k) {
    const mezzo::Tensor& gradient = narrow[row.outputs.size() + k];
    const std::vector<double> x = gradient.to_doubles(), y = exact[row.outputs.size() + k].to_doubles();
    BOOST_TEST((gradient.dtype() == arguments[row.differentiable[k]].dtype()));
    double largest = 1, off = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, std::abs(y[i]));
      off = std::max(off, std::abs(x[i] - y[i]));
    }
    const double sums = 4 * epsilon(mezzo::accumulation_dtype(dtype)) * std::sqrt(row.depth);
    BOOST_TEST(off <= (4 * epsilon(dtype) + sums) * largest, "argument " << row.differentiable[k]);
  }
}

// Float32 operands that cross a layer's border are cast to the policy's compute dtype.
inline void check_autocast(const OpRow& row, const std::string& policy_name) {
  if (row.internal) return;
  const mezzo::Policy policy(policy_name);
  const mezzo::DType compute = row.keeps ? mezzo::DType::float32 : policy.compute_dtype();
  const TensorList arguments = arguments_in(row, mezzo::DType::float32);
  const TensorList expected = row.plain(arguments_in(row, mezzo::DType::float64));
  mezzo::Trace trace(mezzo::Trace::Mode::graph, row.training);
  const mezzo::detail::PolicyScope scope(policy);
  mezzo::Values inputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const mezzo::Value input = trace.input("x", mezzo::Spec{arguments[i].shape(), arguments[i].dtype()});
    inputs.push_back(input.across_border(row.arguments[i].role.is_varied()));
  }
  const mezzo::Values outputs = row.call(inputs);
  const mezzo::detail::NodePtr node = outputs.at(0).node();
  BOOST_TEST(node->op->name == row.op);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (row.arguments[i].role.is_varied()) BOOST_TEST((node->inputs[i].dtype() == compute), "argument " << i);
  }
  BOOST_TEST_REQUIRE(outputs.size() == row.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    BOOST_TEST(dtype_name(outputs[i].dtype()) == std::string(dtype_name(row.outputs[i].in(compute))), "output " << i);
    BOOST_TEST(outputs[i].shape() == expected[i].shape(), boost::test_tools::per_element());
  }
}

}  // namespace mezzo_tests
