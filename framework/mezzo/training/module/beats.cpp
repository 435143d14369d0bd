#include <mezzo/training/module/beats.hpp>

#include <cmath>

namespace mezzo::detail {

bool beats(double value, const std::optional<double>& reference, bool rises) {
  if (std::isnan(value)) return false;
  if (!reference || std::isnan(*reference)) return true;
  return rises ? value > *reference : value < *reference;
}

}  // namespace mezzo::detail
