#include <mezzo/nn/checks.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

template <class T>
std::optional<double> non_finite_in(const Tensor& numbers) {
  const T* const begin = numbers.data<T>();
  const T* const end = begin + numbers.size();
  const T* const found = std::find_if(begin, end, [](T x) { return !std::isfinite(x); });
  return found == end ? std::nullopt : std::optional<double>(*found);
}

/// Text for an input that may be one sample: it has one axis less, and known sizes.
const char* hint(const Shape& input, std::size_t rank) {
  const bool unknown = std::any_of(input.begin(), input.end(), [](std::int64_t size) { return size < 0; });
  return input.empty() || input.size() + 1 != rank || unknown ? "" : ": add a batch axis if this is one sample";
}

}  // namespace

std::optional<double> non_finite_number(const Tensor& numbers) {
  return numbers.dtype() == DType::float64 ? non_finite_in<double>(numbers)
                                           : non_finite_in<float>(numbers.cast(DType::float32));
}

void require_positive(const std::string& where, const std::string& option, std::int64_t value) {
  if (value < 1) fail<ValueError>(where, "{} must be at least 1; got {}", option, value);
}

void require_above(const std::string& where, const std::string& option, double value, double least) {
  if (!(value > least)) fail<ValueError>(where, "{} must be above {}; got {}", option, least, value);
}

void require_finite(const std::string& where, const std::string& option, double value) {
  if (!std::isfinite(value)) fail<ValueError>(where, "{} must be finite; got {}", option, value);
}

void require_rate(const std::string& where, const std::string& option, double rate) {
  if (!(rate >= 0 && rate < 1)) fail<ValueError>(where, "{} must lie in [0, 1); got {}", option, rate);
}

void require_divides(const std::string& where, const std::string& option, std::int64_t value, const std::string& other,
                     std::int64_t multiple) {
  if (multiple % value != 0)
    fail<ValueError>(where, "{} must divide {}; got {} and {}", option, other, value, multiple);
}

void require_rank(const std::string& where, const Shape& input, std::size_t rank, const std::string& axes) {
  if (input.size() == rank) return;
  fail<ShapeError>(where, "input must have rank {} {}; got shape {}{}", rank, axes, input, hint(input, rank));
}

void require_rank_at_least(const std::string& where, const Shape& input, std::size_t rank) {
  if (input.size() >= rank) return;
  fail<ShapeError>(where, "input must have rank {} or more; got shape {}{}", rank, input, hint(input, rank));
}

void require_last_axis(const std::string& where, const Shape& input, std::int64_t size, const std::string& meaning) {
  if (!input.empty() && input.back() == size) return;
  fail<ShapeError>(where, "input axis -1 must be {} ({}); got shape {}", size, meaning, input);
}

std::int64_t known_size(const std::string& where, const Shape& input, std::int64_t axis) {
  const std::int64_t size = input[static_cast<std::size_t>(normalize_axis(axis, input.size(), where))];
  if (size < 0) fail<ShapeError>(where, "input axis {} must have a known size; got shape {}", axis, input);
  return size;
}

}  // namespace mezzo::detail
