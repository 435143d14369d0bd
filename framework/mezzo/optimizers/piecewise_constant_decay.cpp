#include <mezzo/optimizers/piecewise_constant_decay.hpp>

#include <algorithm>
#include <functional>

#include <mezzo/core/fail.hpp>

namespace mezzo {

PiecewiseConstantDecay::PiecewiseConstantDecay(PiecewiseConstantDecayOptions options) : options_(std::move(options)) {
  const auto& boundaries = options_.boundaries;
  const char* where = "[PiecewiseConstantDecay]";
  if (options_.values.size() != boundaries.size() + 1) {
    fail<ValueError>(where, "values must have one element more than boundaries; got {} and {}", options_.values.size(),
                     boundaries.size());
  }
  if (std::adjacent_find(boundaries.begin(), boundaries.end(), std::greater_equal<>()) != boundaries.end()) {
    fail<ValueError>(where, "boundaries must rise; got {}", fmt::join(boundaries, ", "));
  }
}

double PiecewiseConstantDecay::operator()(std::int64_t step) const {
  const auto& boundaries = options_.boundaries;
  const auto passed = std::lower_bound(boundaries.begin(), boundaries.end(), step) - boundaries.begin();
  return options_.values[static_cast<std::size_t>(passed)];
}

}  // namespace mezzo
