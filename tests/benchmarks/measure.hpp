#pragma once
#include <vector>

#include "workloads.hpp"

namespace mezzo_bench {

/// Times of a workload, in seconds.
struct Measurement {
  double first = 0;           ///< the first step: tracing, compiling and running it
  double first_touch = 0;     ///< extra time of its kernels over a later step: memory is touched for the first time
  std::vector<double> steps;  ///< the timed steps, sorted
  double loss = 0;            ///< loss of the last step, without a unit
  double median() const { return steps[steps.size() / 2]; }
  double mean() const;
};

/// Trains a built model on one batch as Trainer::fit does: the first step, 3 steps that are not timed, then timed steps
/// for `seconds`, at least 5.
Measurement measure(mezzo::Model& model, const mezzo::HostBatch& batch, const mezzo::Policy& policy, double seconds);

}  // namespace mezzo_bench
