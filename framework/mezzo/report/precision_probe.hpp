#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/precision/policy_map.hpp>
#include <mezzo/training/step/step_probe.hpp>

namespace mezzo::detail {

/// Values of one layer in a step. Cotangents and gradients are empty tensors where the loss doesn't depend on the
/// value.
struct LayerRun {
  std::string path{};
  std::vector<Tensor> outputs{};     ///< values that other layers read
  std::vector<Tensor> cotangents{};  ///< cotangents of `outputs`
  std::vector<Tensor> gradients{};   ///< gradients of the layer's own trainable weights
};

/// One training step up to its gradients. Cotangents and gradients carry the loss scale.
struct StepRun {
  std::vector<LayerRun> layers;  ///< layers with ops of their own, in the order of their first node
  std::vector<Tensor> predictions;
  std::vector<Tensor> gradients;  ///< gradients of all trainable weights
  double loss = 0;
  double loss_scale = 1;  ///< 1 unless something computes in float16

  /// Values of the layer of that path, or null.
  const LayerRun* find(const std::string& path) const;
};

/// Relative errors of a run against the float32 run.
struct ModelErrors {
  double output = 0;    ///< error of the predictions
  double gradient = 0;  ///< error of the gradients of all trainable weights

  double worst() const;
};

/// Runs steps of a copy of a model under several policies, each from the same weights.
class PrecisionProbe {
 public:
  /// Runs the step in float32. A ValueError that begins with `where` if the model isn't built.
  PrecisionProbe(Module& copy, const HostBatch& batch, double loss_scale, std::string where);

  const StepRun& float32() const { return float32_; }

  /// Runs a step under a Trainer's policy. Starts at the loss scale of the constructor and halves it as long as
  /// gradients overflow.
  StepRun run(const Policy& policy);

  /// Runs a step in which one layer follows `policy` and everything else is float32. Halves the loss scale as run()
  /// does, and starts the next call at the scale that was found.
  StepRun run_alone(const std::string& path, const Policy& policy);

  /// Errors of a run against float32().
  ModelErrors errors(const StepRun& run) const;

  /// Kind of a layer, and the policy that it had in the last run().
  struct Place {
    std::string kind;
    Policy policy;
  };
  std::map<std::string, Place> places() const;  ///< by path

  /// Times of `steps` training steps in float32, then of as many under each of these policies of a Trainer.
  std::vector<StepTimes> time(const std::vector<Policy>& policies, int steps);

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

/// True if compute, variable and output dtype are float32 and there are no op lists.
bool is_float32(const Policy& policy);

}  // namespace mezzo::detail
