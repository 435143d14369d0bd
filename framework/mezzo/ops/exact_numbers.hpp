#pragma once
#include <optional>

#include <mezzo/graph/op.hpp>

namespace mezzo::detail {

/// A C++ number beside an operand whose dtype can't hold it.
struct BeyondNumber {
  bool first;   ///< operand 0 is the number, operand 1 the array
  int side;     ///< 1: above the dtype's numbers; -1: below
  DType dtype;  ///< dtype in which the op computes
};

/// The operand of a binary op that is such a number; none if the other operand is a number, too.
std::optional<BeyondNumber> beyond_number(const Op& op, const Value& a, const Value& b);

/// a < b, or a <= b if `or_equal`, exact for such numbers.
Value ordered(const Value& a, const Value& b, bool or_equal);

/// The greater of both, or the lesser. A number that is never the result may be beyond the dtype.
Value greatest(const Value& a, const Value& b);
Value least(const Value& a, const Value& b);

}  // namespace mezzo::detail
