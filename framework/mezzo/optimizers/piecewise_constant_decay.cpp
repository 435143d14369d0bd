#include <mezzo/optimizers/piecewise_constant_decay.hpp>

#include <algorithm>
#include <functional>
#include <string>

#include <mezzo/core/error.hpp>

namespace mezzo {

PiecewiseConstantDecay::PiecewiseConstantDecay(PiecewiseConstantDecayOptions options) : options_(std::move(options)) {
  const auto& boundaries = options_.boundaries;
  if (options_.values.size() != boundaries.size() + 1) {
    throw ValueError("[PiecewiseConstantDecay] values must have one element more than boundaries; got " +
                     std::to_string(options_.values.size()) + " and " + std::to_string(boundaries.size()));
  }
  if (std::adjacent_find(boundaries.begin(), boundaries.end(), std::greater_equal<>()) != boundaries.end()) {
    throw ValueError("[PiecewiseConstantDecay] boundaries must rise");
  }
}

double PiecewiseConstantDecay::operator()(std::int64_t step) const {
  const auto& boundaries = options_.boundaries;
  const auto passed = std::lower_bound(boundaries.begin(), boundaries.end(), step) - boundaries.begin();
  return options_.values[static_cast<std::size_t>(passed)];
}

}  // namespace mezzo
