#pragma once
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

struct PiecewiseConstantDecayOptions {
  std::vector<std::int64_t> boundaries{};  ///< last step of each value but the last one, strictly rising
  std::vector<double> values{};            ///< required; rates, one more than boundaries
};

/// Learning rate values[0] up to and including step boundaries[0], values[1] up to and including boundaries[1], ...,
/// then values.back().
class MEZZO_API PiecewiseConstantDecay : public Schedule {
 public:
  /// A ValueError unless there is one more value than boundaries and boundaries rise.
  explicit PiecewiseConstantDecay(PiecewiseConstantDecayOptions options);
  /// The same with positional arguments.
  PiecewiseConstantDecay(std::vector<std::int64_t> boundaries, std::vector<double> values)
      : PiecewiseConstantDecay(PiecewiseConstantDecayOptions{std::move(boundaries), std::move(values)}) {}
  double operator()(std::int64_t step) const override;

  /// Returns the options given to the constructor.
  const PiecewiseConstantDecayOptions& options() const { return options_; }

 private:
  PiecewiseConstantDecayOptions options_;
};

}  // namespace mezzo
