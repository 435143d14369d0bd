#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/precision/float32_matmul.hpp>
#include <mezzo/training/module/stage.hpp>
#include <mezzo/training/ranks/gradient_bucket.hpp>
#include <mezzo/training/ranks/rank_shards.hpp>
#include <mezzo/training/ranks/step_ranks.hpp>
#include <mezzo/training/step/logged.hpp>

namespace mezzo::detail {

/// Everything that a plan depends on, except the index of the loader.
struct StepSignature {
  Stage stage = Stage::fit;
  int threads = 0;  ///< thread_count()
  std::string policy;
  std::string regions;       ///< casts of autocast() and disable_casts() around the call
  std::uint64_t layers = 0;  ///< layers_signature()
  std::vector<Spec> inputs;
  std::uint64_t fields = 0;  ///< fields_signature()
  std::optional<bool> float32_winograd{};
  Float32Matmul float32_matmul = Float32Matmul::highest;  ///< current_float32_matmul()
  std::uint64_t options = 0;                              ///< hash of options that are parts of a step
  std::uint64_t windows = 0;  ///< hash of the windows of accumulated gradients and of the groups of weights

  bool operator==(const StepSignature& other) const = default;

  /// Sets `inputs` and `fields` to those of a batch. Allocates nothing for the shapes of the last one.
  void set_batch(const HostBatch& batch);
};

/// Hash of the names and roles of a batch's fields.
std::uint64_t fields_signature(const HostBatch& batch);

/// An optimizer that a step applies.
struct AppliedOptimizer {
  std::size_t optimizer = 0;  ///< index
  std::size_t calls = 1;      ///< of minimize()
  bool scaled = false;        ///< true if its gradients carry a loss scale
};

/// A step that was traced and compiled for one signature.
struct CompiledStep {
  StepSignature signature;
  std::optional<std::size_t> dataloader{};  ///< index of the loader, if the step depends on it
  std::int64_t used = 0;                    ///< number of the cache's run in which it ran last
  std::shared_ptr<Plan> plan;
  bool float16 = false;            ///< computes_in_float16()
  std::vector<Logged> logged;      ///< outputs of the plan, and metrics
  std::size_t logged_outputs = 0;  ///< outputs of the plan that are logged; those of a predict step follow them
  std::vector<Shared<MetricState>> metrics;    ///< that the step updates
  std::vector<AppliedOptimizer> applied;       ///< optimizers
  RankVariables ranked;                        ///< of a step whose batch is a part of one
  std::vector<RankShards::Variables> sharded;  ///< by optimizer, weights that one rank updates for all
  std::vector<std::shared_ptr<const GradientBucket>> buckets{};  ///< of the ranks
};

/// The compiled steps of a module: the plan_cache_size() ones that were used last.
class PlanCache {
 public:
  /// The step of that signature, for batches of that loader. Null if there is none.
  CompiledStep* find(const StepSignature& signature, std::size_t dataloader) const;

  /// Drops the steps that were used longest ago, until one more may be added.
  void make_room();
  CompiledStep* add(std::unique_ptr<CompiledStep> step);

  /// Notes that a step runs.
  void use(CompiledStep& step) { step.used = ++runs_; }

  /// Counts a plan that is made. Warns at the ninth of a stage, with what changes between the batches.
  void count(Stage stage, const HostBatch& batch);

  void clear() { steps_.clear(); }
  void reset_counts() { counts_ = {}; }

  const std::vector<std::unique_ptr<CompiledStep>>& steps() const { return steps_; }
  const std::shared_ptr<Arena>& arena() const { return arena_; }  ///< shared by the plans

 private:
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  std::vector<std::unique_ptr<CompiledStep>> steps_;
  std::int64_t runs_ = 0;        // of all stages
  std::array<int, 4> counts_{};  // plans that were made, by stage
};

}  // namespace mezzo::detail
