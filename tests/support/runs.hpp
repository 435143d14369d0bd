#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo_tests {

using TensorList = std::vector<mezzo::Tensor>;

// A step: maps inputs to the values that become outputs 0, 1, ... of the trace.
using TestedStep = std::function<mezzo::Values(const mezzo::Values&)>;

// Traces a step on symbols of the arguments' shapes and dtypes.
inline mezzo::Graph trace_step(const TestedStep& step, const TensorList& arguments, bool training = false) {
  mezzo::Trace trace(mezzo::Trace::Mode::graph, training);
  mezzo::Values inputs;
  for (const mezzo::Tensor& argument : arguments) {
    inputs.push_back(trace.input("x" + std::to_string(inputs.size()), mezzo::Spec{argument.shape(), argument.dtype()}));
  }
  const mezzo::Values outputs = step(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) trace.output(std::to_string(i), outputs[i]);
  return trace.graph();
}

// The outputs of a step that is computed while it is traced.
inline TensorList run_in_eager_trace(const TestedStep& step, const TensorList& arguments, bool training = false) {
  mezzo::Trace trace(mezzo::Trace::Mode::eager, training);
  mezzo::Values inputs;
  for (const mezzo::Tensor& argument : arguments) {
    inputs.push_back(trace.input("x" + std::to_string(inputs.size()), argument));
  }
  TensorList outputs;
  for (const mezzo::Value& output : step(inputs)) outputs.push_back(output.tensor());
  return outputs;
}

inline TensorList outputs_of(const mezzo::detail::Plan& plan) {
  TensorList outputs;
  for (std::size_t i = 0; i < plan.output_names().size(); ++i) outputs.push_back(plan.output(i));
  return outputs;
}

// Compiles and runs a graph once.
inline TensorList run_compiled(const mezzo::Graph& graph, const TensorList& arguments, bool fuse = true) {
  mezzo::detail::Plan plan(mezzo::run_passes(graph, {fuse}), std::make_shared<mezzo::Arena>());
  plan.run(arguments, {});
  return outputs_of(plan);
}

// Number of nodes of that op in a graph.
inline int count_nodes(const mezzo::Graph& graph, const std::string& op) {
  int count = 0;
  for (const mezzo::detail::NodePtr& node : graph.nodes) count += node->op->name == op ? 1 : 0;
  return count;
}

// The first node of that op.
inline mezzo::detail::NodePtr find_node(const mezzo::Graph& graph, const std::string& op) {
  for (const mezzo::detail::NodePtr& node : graph.nodes) {
    if (node->op->name == op) return node;
  }
  throw std::runtime_error("no node of op " + op);
}

inline std::shared_ptr<mezzo::detail::VariableState> make_variable(const std::string& name,
                                                                   const mezzo::Tensor& value) {
  auto variable = std::make_shared<mezzo::detail::VariableState>(name);
  variable->assign(value);
  return variable;
}

}  // namespace mezzo_tests
