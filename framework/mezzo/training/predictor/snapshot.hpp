#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <mezzo/compiler/inference/frozen_constants.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/training/predictor/predict_trace.hpp>

namespace mezzo::detail {

/// Options of a Snapshot.
struct SnapshotOptions {
  PredictSetting setting{};
  std::vector<std::vector<Spec>> ahead{};  ///< inputs whose graphs are made at once
  std::size_t further = 0;                 ///< most graphs of other inputs that are kept
  double step = 0, epoch = 0;              ///< counters of the module's training, for layers that read them
};

/// Predictions of a module, with the weights of the moment when the object is made. Graphs for further shapes are
/// traced with a copy of the module. Threads may share it.
class MEZZO_API Snapshot {
 public:
  /// `copy` is a deep copy of the module, null if its class can't be copied; it then serves the inputs of
  /// SnapshotOptions::ahead alone. The module must be built, and idle unless there is a copy. Throws what its layers
  /// throw.
  Snapshot(Module& module, std::shared_ptr<Module> copy, SnapshotOptions options);

  /// The graph for these inputs, ready for a Plan.
  std::shared_ptr<const Graph> graph_for(const std::vector<Spec>& inputs);

  const std::vector<std::vector<Spec>>& ahead() const { return options_.ahead; }

  /// Number of a runtime scalar in a call.
  double runtime_value(const RuntimeKey& key) const;

  /// Bytes of the weights and of what was computed of them ahead, shared by all graphs.
  std::size_t constant_bytes() const { return constants_.bytes(); }

 private:
  struct Known {
    std::vector<Spec> inputs;
    std::shared_ptr<const Graph> graph;
    std::uint64_t used = 0;
  };

  std::shared_ptr<const Graph> trace(Module& module, const std::vector<Spec>& inputs);
  [[noreturn]] void fail_unknown_inputs(const std::vector<Spec>& inputs) const;

  SnapshotOptions options_;
  std::string kind_;              // class of the module
  std::shared_ptr<Module> copy_;  // used under the mutex
  FrozenConstants constants_;
  std::mutex mutex_;
  std::vector<Known> known_;  // those made ahead first
  std::uint64_t uses_ = 0;
};

/// "float32 (1, 784), int64 (1, 128)".
std::string describe(const std::vector<Spec>& specs);

}  // namespace mezzo::detail
