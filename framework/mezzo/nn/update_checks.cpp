#include <mezzo/nn/update_checks.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

double square_headroom(const Optimizer& optimizer) {
  constexpr double averages = 2;  // that bfloat16 slots may round up
  constexpr double sums = 1024;   // over a million elements or updates
  const OptimizerCommon& common = optimizer.common();
  if (common.clipnorm > 0 || common.clipvalue > 0 || common.global_clipnorm > 0) return 0;
  switch (optimizer.squares()) {
    case Optimizer::Squares::sums:
      return sums;
    case Optimizer::Squares::averages:
      return averages;
    case Optimizer::Squares::none:
      break;
  }
  return 0;
}

double finite_learning_rate(const Optimizer& optimizer, std::int64_t later) {
  const double rate = optimizer.learning_rate(later);
  if (std::isfinite(rate)) return rate;
  fail<ValueError>("[" + optimizer.name() + "]", "learning_rate must be finite; got {} for update {}", rate,
                   optimizer.iterations() + later + 1);
}

}  // namespace mezzo::detail
