#pragma once

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/runs.hpp"
#include "support/tensors.hpp"

// Steps for tests of the compiler, written with ops and bare variables.
namespace mezzo_tests {

using VariablePointer = std::shared_ptr<mezzo::detail::VariableState>;

// What a function records in a training trace.
inline mezzo::Graph traced(const std::function<void(mezzo::Trace&)>& record) {
  mezzo::Trace trace(mezzo::Trace::Mode::graph, true);
  record(trace);
  return trace.graph();
}

inline mezzo::detail::Plan planned(const mezzo::Graph& graph, bool fuse = true) {
  return {mezzo::run_passes(graph, {fuse}), std::make_shared<mezzo::Arena>()};
}

// variable -= 0.5 * gradient, as optimizers insert it.
inline void update_by_sgd(const VariablePointer& variable, const mezzo::Value& gradient,
                          const VariablePointer& momentum = nullptr) {
  mezzo::Values operands{mezzo::read_variable(variable), gradient};
  if (momentum) operands.push_back(mezzo::read_variable(momentum));
  for (const double number : {0.5, 1.0}) operands.emplace_back(float64_scalar(number));
  const mezzo::Values out =
      insert(mezzo::find_op("sgd_update"), operands,
             {{"momentum", momentum ? 0.75 : 0.0}, {"weight_decay", 0.0}, {"clipvalue", 0.0}, {"nesterov", false}});
  update_variable(variable, out[0]);
  if (momentum) update_variable(momentum, out[1]);
}

// A dense layer's forward and backward pass and its updates, under the policy that holds.
struct DenseStep {
  VariablePointer kernel = make_variable("kernel", small_integers({3, 4}, mezzo::DType::float32, 1));
  VariablePointer bias = make_variable("bias", small_integers({4}, mezzo::DType::float32, 2));
  VariablePointer kernel_momentum = make_variable("kernel/momentum", mezzo::Tensor({3, 4}));

  static mezzo::Tensor input() { return small_integers({5, 3}, mezzo::DType::float32, 3); }

  mezzo::Value forward(const mezzo::Value& x) const {
    return mezzo::relu(matmul(x.across_border(), mezzo::read_variable(kernel)) + mezzo::read_variable(bias));
  }

  // Output 0: the sum of what forward() gives.
  mezzo::Graph trace(const std::string& policy) const {
    return traced([&](mezzo::Trace& step) {
      const mezzo::detail::PolicyScope scope((mezzo::Policy(policy)));
      const mezzo::Value loss =
          sum(cast(forward(step.input("x", mezzo::Spec{{5, 3}, mezzo::DType::float32})), mezzo::DType::float32));
      const mezzo::Values gradients = mezzo::gradients(loss, {step.read(kernel), step.read(bias)});
      update_by_sgd(kernel, gradients[0], kernel_momentum);
      update_by_sgd(bias, gradients[1]);
      step.output("loss", loss);
    });
  }
};

}  // namespace mezzo_tests
