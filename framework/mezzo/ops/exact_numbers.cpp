#include <mezzo/ops/exact_numbers.hpp>

#include <cstdint>
#include <limits>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/number_range.hpp>
#include <mezzo/ops/op_set.hpp>

// Comparisons and extremes of arrays and C++ numbers that the arrays' dtype can't hold.
namespace mezzo::detail {
namespace {

/// The number of the dtype nearest to that side.
Value nearest(const BeyondNumber& number) {
  const NumberRange range = number_range(number.dtype);
  const double limit = number.side > 0 ? range.most : range.least;
  return is_floating(number.dtype) ? Value(limit) : Value(static_cast<std::int64_t>(limit));
}

/// An extreme; `never` is the side on which a number is never the result.
Value extreme(const Op& op, const Value& a, const Value& b, int never) {
  const std::optional<BeyondNumber> number = beyond_number(op, a, b);
  if (!number || number->side != never) return insert_one(op, {a, b});
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Value limit = is_floating(number->dtype) ? Value(never * infinity) : nearest(*number);
  return number->first ? insert_one(op, {limit, b}) : insert_one(op, {a, limit});
}

}  // namespace

std::optional<BeyondNumber> beyond_number(const Op& op, const Value& a, const Value& b) {
  if (a.weak() == b.weak()) return std::nullopt;
  const DType dtype = operand_dtypes(op, op.cast, {a, b}).front();
  const int side = beyond((a.weak() ? a : b).item(), dtype);
  if (side == 0) return std::nullopt;
  return BeyondNumber{a.weak(), side, dtype};
}

Value ordered(const Value& a, const Value& b, bool or_equal) {
  const Op& op = or_equal ? ops::less_equal : ops::less;
  const std::optional<BeyondNumber> number = beyond_number(op, a, b);
  if (!number) return insert_one(op, {a, b});
  // x < 300 is x <= 255, and x < -1 is x < 0
  const Op& exact = number->first == (number->side < 0) ? ops::less_equal : ops::less;
  return number->first ? insert_one(exact, {nearest(*number), b}) : insert_one(exact, {a, nearest(*number)});
}

Value greatest(const Value& a, const Value& b) { return extreme(ops::maximum, a, b, -1); }
Value least(const Value& a, const Value& b) { return extreme(ops::minimum, a, b, 1); }

}  // namespace mezzo::detail
