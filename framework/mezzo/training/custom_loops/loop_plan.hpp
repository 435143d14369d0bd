#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/core/usage.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/precision/float32_matmul.hpp>
#include <mezzo/training/custom_loops/loop_updates.hpp>

namespace mezzo::detail {

/// Numbers of a StepFunction that its runs read.
struct LoopNumbers {
  std::uint64_t stream = 0;  ///< key of its random numbers, beside seed()
  std::int64_t steps = 0;    ///< runs so far
};

/// Settings of the calling thread that a plan depends on.
struct LoopSettings {
  static LoopSettings now();

  bool operator==(const LoopSettings& other) const = default;

  int threads = 0;
  std::string policy;                                   ///< of all layers without one
  std::vector<std::pair<std::string, bool>> regions{};  ///< policies of autocast() around the call; false: no casts
  Float32Matmul float32_matmul = Float32Matmul::highest;
};

/// A step of compile_step() for inputs of certain shapes and dtypes.
class LoopPlan {
 public:
  using Function = std::function<Values(const Values&)>;

  /// Traces the function. Layers that it calls are built.
  LoopPlan(const Function& function, const std::vector<Tensor>& inputs, bool training,
           const std::shared_ptr<Arena>& arena);

  /// True if a run with these inputs is possible: nothing that the plan depends on has changed.
  bool fits(const std::vector<Tensor>& inputs) const;

  /// Runs the plan, counts the updates and copies the outputs.
  void run(const std::vector<Tensor>& inputs, const LoopNumbers& numbers);

  const std::vector<Tensor>& outputs() const { return outputs_; }

  /// Variables that a run uses.
  const std::vector<RunScope::Object>& objects() const { return objects_; }

 private:
  bool trace(const Function& function, const std::vector<Tensor>& inputs, bool training, bool guards, Graph& graph);
  bool split_masters(const Graph& graph);
  void note_variables(const Graph& graph);
  std::uint64_t layers_now() const;
  std::uint64_t variables_now() const;
  std::uint64_t windows_now() const;
  double number(const RuntimeKey& key, const LoopNumbers& numbers) const;

  LoopSettings settings_;
  std::vector<Shared<LayerState>> layers_;  // called outside of other layers
  std::vector<LoopOptimizer> optimizers_;
  std::vector<std::shared_ptr<VariableState>> variables_;
  std::uint64_t of_layers_ = 0, of_variables_ = 0, of_windows_ = 0;  // hashes of what the plan depends on
  std::unique_ptr<Plan> plan_;
  std::vector<Tensor> outputs_;  // of the last run
  std::vector<double> numbers_;
  std::vector<RunScope::Object> objects_;
};

}  // namespace mezzo::detail
