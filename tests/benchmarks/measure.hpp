#pragma once
#include <vector>

#include "workloads.hpp"

namespace mezzo_bench {

/// What timing a workload gave, in seconds.
struct Measurement {
  double first = 0;           ///< the first step: tracing, compiling and running it
  double first_touch = 0;     ///< by how much its kernels ran longer than those of a later step: touching memory first
  std::vector<double> steps;  ///< the timed ones, sorted
  double loss = 0;            ///< of the last step
  double median() const { return steps[steps.size() / 2]; }
};

/// Trains a built model on one batch as Trainer::fit does, step by step: the first step, 3 more that are not timed,
/// then at least 5, until `seconds` are over.
Measurement measure(mezzo::Model& model, const mezzo::HostBatch& batch, const mezzo::Policy& policy, double seconds);

}  // namespace mezzo_bench
