#include <mezzo/nn/checks.hpp>

#include <mezzo/core/error.hpp>

namespace mezzo::detail {

void require_positive(const std::string& where, const std::string& option, std::int64_t value) {
  if (value < 1) throw ValueError(where + " " + option + " must be at least 1; got " + std::to_string(value));
}

void require_divides(const std::string& where, const std::string& option, std::int64_t value, const std::string& other,
                     std::int64_t multiple) {
  if (multiple % value == 0) return;
  throw ValueError(where + " " + option + " must divide " + other + "; got " + std::to_string(value) + " and " +
                   std::to_string(multiple));
}

void require_rank(const std::string& where, const Shape& input, std::size_t rank, const std::string& axes) {
  if (input.size() == rank) return;
  throw ShapeError(where + " input must have rank " + std::to_string(rank) + " " + axes + "; got shape " +
                   to_string(input));
}

void require_rank_at_least(const std::string& where, const Shape& input, std::size_t rank) {
  if (input.size() >= rank) return;
  throw ShapeError(where + " input must have rank " + std::to_string(rank) + " or more; got shape " + to_string(input));
}

void require_last_axis(const std::string& where, const Shape& input, std::int64_t size, const std::string& meaning) {
  if (!input.empty() && input.back() == size) return;
  throw ShapeError(where + " input axis -1 must be " + std::to_string(size) + " (" + meaning + "); got shape " +
                   to_string(input));
}

}  // namespace mezzo::detail
