#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/precision/policy_map.hpp>
#include <mezzo/training/step_probe.hpp>

namespace mezzo::detail {

/// What a layer gave to others in a step. Tensors are empty where the loss doesn't depend on the value.
struct LayerRun {
  std::string path;
  std::vector<Tensor> outputs, cotangents;
  std::vector<Tensor> gradients;  ///< of its own trainable weights
};

/// One training step up to its gradients, which carry the loss scale.
struct StepRun {
  std::vector<LayerRun> layers;  ///< those that compute something, in the order in which they do so first
  std::vector<Tensor> predictions;
  std::vector<Tensor> gradients;  ///< of all trainable weights
  double loss = 0;
  double loss_scale = 1;  ///< other than 1 only if something computes in float16

  const LayerRun* find(const std::string& path) const;
};

/// The model's errors against another run.
struct ModelErrors {
  double output = 0;
  double gradient = 0;
  double worst() const;
};

/// Runs steps of a copy of a model under one policy after another, each from the same weights.
class PrecisionProbe {
 public:
  /// Takes the float32 step. A ValueError that begins with `where` if the model isn't built.
  PrecisionProbe(Module& copy, const HostBatch& batch, double loss_scale, std::string where);

  const StepRun& float32() const { return float32_; }

  /// A step under a Trainer's policy. The loss scale begins at the greatest, and is halved while gradients overflow.
  StepRun run(const Policy& policy);

  /// A step in float32, but for one layer. The loss scale is sought likewise.
  StepRun run_alone(const std::string& path, const Policy& policy);

  /// Of a run, against float32.
  ModelErrors errors(const StepRun& run) const;

  /// The policy that held for a layer in the last run(), and the layer's kind.
  struct Place {
    std::string kind;
    Policy policy;
  };
  std::map<std::string, Place> places() const;

  /// A profiled plan of `steps` training steps.
  std::shared_ptr<const Plan> time(const Policy& policy, int steps);
  std::shared_ptr<const Plan> time_float32(int steps);

 private:
  StepRun step(const Policy& policy, double loss_scale);
  StepRun settled(const Policy& policy, bool own_policies, double loss_scale);
  void reset(bool own_policies);

  Module& model_;
  const HostBatch& batch_;
  double loss_scale_, alone_scale_;
  std::string where_;
  std::vector<std::pair<Shared<VariableState>, Tensor>> weights_;
  std::vector<std::pair<Shared<LayerState>, Policy>> policies_;
  Policy model_policy_;  // of the last step
  StepRun float32_;
};

/// Whether it is float32 in all respects.
bool is_float32(const Policy& policy);

}  // namespace mezzo::detail
