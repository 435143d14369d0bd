#pragma once
#include <memory>
#include <vector>

#include <mezzo/distributed/communicator.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// Variables of a step that all ranks must have alike after it.
struct RankVariables {
  std::vector<std::shared_ptr<VariableState>> sums;   ///< of metrics: a step adds its samples
  std::vector<std::shared_ptr<VariableState>> means;  ///< other ones without optimizer: moving statistics

  /// Variables that a traced step updates. A ValueError for a metric that is not a sum over samples, and for a variable
  /// that is neither a weight nor of a metric.
  static RankVariables of(const Graph& graph, const Module& module, const std::vector<Shared<MetricState>>& metrics);
};

/// Makes numbers and variables of a step those of all ranks, by one reduction after it.
class StepRanks {
 public:
  StepRanks(Communicator& communicator, const RankVariables& variables, double share)
      : communicator_(communicator), variables_(variables), share_(share) {}

  /// Called before the step: records the sums.
  void begin();

  /// Called after the step. `values` of the step become means over the samples of all ranks.
  void end(std::vector<double>& values);

  /// Amount that the step has added to the sums, at all ranks. Called after end().
  const std::vector<double>& added() const { return added_; }

 private:
  Communicator& communicator_;
  const RankVariables& variables_;
  double share_;
  std::vector<double> before_, added_;
};

}  // namespace mezzo::detail
