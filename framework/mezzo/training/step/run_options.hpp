#pragma once
#include <memory>
#include <optional>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/precision/float32_matmul.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/training/step/process_group.hpp>
#include <mezzo/training/step/step_updates.hpp>

namespace mezzo::detail {

/// Options of a StepRunner.
struct RunOptions {
  Policy policy{};                                ///< of the Trainer; one that inherits leaves each model its own
  bool int8_inside = false;                       ///< a policy with products of int8 is that of the layers inside
  bool eager = false;                             ///< runs node by node, without plans
  PipelineOptions passes{};                       ///< compiler passes
  std::optional<LossScaleOptions> loss_scale{};   ///< of the Trainer; not given: of each optimizer
  std::optional<bool> adaptive_threads{};         ///< of the Trainer; not given: adaptive_threads()
  std::optional<bool> float32_winograd{};         ///< of the Trainer; not given: MEZZO_FLOAT32_WINOGRAD
  std::optional<Float32Matmul> float32_matmul{};  ///< of the Trainer; not given: float32_matmul_precision()
  std::optional<GradientClip> clip{};             ///< of the Trainer; not given: of each optimizer
  int accumulate = 0;           ///< steps of an update; 0: gradient_accumulation_steps of each optimizer
  bool detect_anomaly = false;  ///< ends at non-finite numbers of any kind, with their origin
  /// Skips steps with non-finite numbers without errors and warnings, and accepts optimizer options without effect.
  bool silent = false;
  ProcessGroup group{};                 ///< ranks whose batches make one
  bool shard_optimizer_states = false;  ///< each rank updates a part of the weights
  bool compress_gradients = false;      ///< ranks send gradients in bfloat16
  bool sync_batchnorm = false;          ///< true: all batch norms use the statistics of all ranks
};

}  // namespace mezzo::detail
