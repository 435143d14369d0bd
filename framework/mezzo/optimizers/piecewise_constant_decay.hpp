#pragma once
#include <vector>

#include <mezzo/nn/schedule.hpp>

namespace mezzo {

/// `values` has one more element than `boundaries`, which rise.
struct PiecewiseConstantDecayOptions {
  std::vector<std::int64_t> boundaries{};
  std::vector<double> values{};
};

/// values[0] up to and including step boundaries[0], values[1] up to boundaries[1], ..., at last values.back().
class PiecewiseConstantDecay : public Schedule {
 public:
  /// A ValueError if the sizes don't fit or boundaries don't rise.
  explicit PiecewiseConstantDecay(PiecewiseConstantDecayOptions options);
  double operator()(std::int64_t step) const override;

 private:
  PiecewiseConstantDecayOptions options_;
};

}  // namespace mezzo
