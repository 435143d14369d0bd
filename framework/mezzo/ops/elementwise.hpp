#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

// Keras' elementwise functions (keras.ops), beside those of ops.hpp. Operands broadcast by numpy's rules and are
// promoted to the widest dtype; C++ numbers take the dtype of the other operand. Results for NaN and infinities are
// NumPy's. Plans compute chains of them in one pass over the arrays.
namespace mezzo {

/// @name Comparisons: bool, not differentiable
/// @{
MEZZO_API Value not_equal(const Value& x1, const Value& x2);
MEZZO_API Value less(const Value& x1, const Value& x2);
MEZZO_API Value less_equal(const Value& x1, const Value& x2);
MEZZO_API Value greater(const Value& x1, const Value& x2);
MEZZO_API Value greater_equal(const Value& x1, const Value& x2);

inline Value operator!=(const Value& x1, const Value& x2) { return not_equal(x1, x2); }
inline Value operator<(const Value& x1, const Value& x2) { return less(x1, x2); }
inline Value operator<=(const Value& x1, const Value& x2) { return less_equal(x1, x2); }
inline Value operator>(const Value& x1, const Value& x2) { return greater(x1, x2); }
inline Value operator>=(const Value& x1, const Value& x2) { return greater_equal(x1, x2); }

MEZZO_API Value isnan(const Value& x);
MEZZO_API Value isinf(const Value& x);
MEZZO_API Value isposinf(const Value& x);
MEZZO_API Value isneginf(const Value& x);
MEZZO_API Value isfinite(const Value& x);

/// True for negative numbers and -0; false for NaN.
MEZZO_API Value signbit(const Value& x);

/// Options of isclose.
struct IsCloseOptions {
  double rtol = 1e-5;      ///< tolerance relative to |x2|
  double atol = 1e-8;      ///< absolute tolerance
  bool equal_nan = false;  ///< true: NaN is close to NaN
};

/// |x1 - x2| <= atol + rtol |x2|; infinities are close to themselves only.
MEZZO_API Value isclose(const Value& x1, const Value& x2, const IsCloseOptions& options = {});
/// @}

/// @name Functions of bools
/// Operands of another dtype are true where they are not 0.
/// @{
MEZZO_API Value logical_and(const Value& x1, const Value& x2);
MEZZO_API Value logical_or(const Value& x1, const Value& x2);
MEZZO_API Value logical_xor(const Value& x1, const Value& x2);
MEZZO_API Value logical_not(const Value& x);
/// @}

/// @name Functions of integers
/// The first three take bools too. Floats are a DTypeError.
/// @{
MEZZO_API Value bitwise_and(const Value& x, const Value& y);
MEZZO_API Value bitwise_or(const Value& x, const Value& y);
MEZZO_API Value bitwise_xor(const Value& x, const Value& y);
/// All bits flipped; of bools, logical_not.
MEZZO_API Value bitwise_not(const Value& x);
inline Value bitwise_invert(const Value& x) { return bitwise_not(x); }
/// x 2^y; 0 if y is negative or not below the number of bits.
MEZZO_API Value left_shift(const Value& x, const Value& y);
inline Value bitwise_left_shift(const Value& x, const Value& y) { return left_shift(x, y); }
/// x / 2^y rounded down; 0 or -1 if y is negative or not below the number of bits.
MEZZO_API Value right_shift(const Value& x, const Value& y);
inline Value bitwise_right_shift(const Value& x, const Value& y) { return right_shift(x, y); }

inline Value operator&(const Value& x, const Value& y) { return bitwise_and(x, y); }
inline Value operator|(const Value& x, const Value& y) { return bitwise_or(x, y); }
inline Value operator^(const Value& x, const Value& y) { return bitwise_xor(x, y); }
inline Value operator~(const Value& x) { return bitwise_not(x); }

/// Greatest common divisor, at least 0.
MEZZO_API Value gcd(const Value& x1, const Value& x2);
/// Least common multiple, at least 0.
MEZZO_API Value lcm(const Value& x1, const Value& x2);
/// @}

/// @name Choices between operands
/// @{
/// The greater of both; NaN if one is NaN. If both are equal, each receives half of the gradient, as in Keras on JAX.
MEZZO_API Value maximum(const Value& x1, const Value& x2);
/// The lesser of both, likewise.
MEZZO_API Value minimum(const Value& x1, const Value& x2);
/// maximum and minimum that return the other operand if one is NaN.
MEZZO_API Value fmax(const Value& x1, const Value& x2);
MEZZO_API Value fmin(const Value& x1, const Value& x2);
/// minimum(maximum(x, x_min), x_max).
MEZZO_API Value clip(const Value& x, const Value& x_min, const Value& x_max);
/// 0 below 0, 1 above, x2 where x1 is 0.
MEZZO_API Value heaviside(const Value& x1, const Value& x2);

/// Options of nan_to_num.
struct NanToNumOptions {
  double nan = 0.0;                ///< replaces NaN
  std::optional<double> posinf{};  ///< replaces infinity; default: the largest finite number of the dtype
  std::optional<double> neginf{};  ///< replaces -infinity; default: the least finite number of the dtype
};

/// Replaces NaN and infinities, whose gradient is 0. Integers are returned as they are.
MEZZO_API Value nan_to_num(const Value& x, const NanToNumOptions& options = {});

/// The choice of the first condition (bool) that is true, else default_value. Throws a ValueError unless both lists
/// have the same number of entries, at least 1.
MEZZO_API Value select(const Values& condlist, const Values& choicelist, const Value& default_value = 0);
/// @}

/// @name Arithmetic
/// @{
/// x1 to the power of x2. The power of integers is an integer (0 for a negative exponent, except for a base of 1 or
/// -1). At x1 = 0 the gradient is not NaN: log(0) counts as 0, and the gradient for an exponent of 0 is 0.
MEZZO_API Value power(const Value& x1, const Value& x2);
MEZZO_API Value square(const Value& x);
/// 1 / x.
MEZZO_API Value reciprocal(const Value& x);
MEZZO_API Value divide(const Value& x1, const Value& x2);
inline Value true_divide(const Value& x1, const Value& x2) { return divide(x1, x2); }
/// x1 / x2, but 0 where x2 is 0.
MEZZO_API Value divide_no_nan(const Value& x1, const Value& x2);
/// The quotient rounded down; of integers, 0 for a divisor of 0. Not differentiable.
MEZZO_API Value floor_divide(const Value& x1, const Value& x2);
/// The remainder of floor_divide, with the sign of x2, as Python's %; of integers, 0 for a divisor of 0.
MEZZO_API Value mod(const Value& x1, const Value& x2);
inline Value remainder(const Value& x1, const Value& x2) { return mod(x1, x2); }
inline Value operator%(const Value& x1, const Value& x2) { return mod(x1, x2); }
/// The remainder of a division that rounds towards 0, with the sign of x1, as in C.
MEZZO_API Value fmod(const Value& x1, const Value& x2);
MEZZO_API Value abs(const Value& x);
inline Value absolute(const Value& x) { return abs(x); }
inline Value fabs(const Value& x) { return abs(x); }
/// @}

/// @name Rounding; the gradient is 0
/// @{
/// Rounds to `decimals` digits after the point, ties to even. Throws a ValueError for decimals outside [-300, 300].
MEZZO_API Value round(const Value& x, std::int64_t decimals = 0);
/// Rounds towards 0. Integers are returned as they are.
MEZZO_API Value trunc(const Value& x);
inline Value fix(const Value& x) { return trunc(x); }
/// @}

/// @name Elementary functions of two operands, and compositions
/// Integers become floats of the scope's compute dtype. The functions of one operand are in ops.def.
/// @{
/// sqrt(x1^2 + x2^2), without overflow. The gradient at (0, 0) is 0.
MEZZO_API Value hypot(const Value& x1, const Value& x2);
/// Angle of the point (x2, x1), in [-pi, pi].
MEZZO_API Value arctan2(const Value& x1, const Value& x2);
/// log(exp(x1) + exp(x2)), without overflow.
MEZZO_API Value logaddexp(const Value& x1, const Value& x2);
/// log2(2^x1 + 2^x2), without overflow.
MEZZO_API Value logaddexp2(const Value& x1, const Value& x2);
/// x1 2^x2, for whole x2.
MEZZO_API Value ldexp(const Value& x1, const Value& x2);
/// sin(pi x) / (pi x), 1 at 0.
MEZZO_API Value sinc(const Value& x);
MEZZO_API Value deg2rad(const Value& x);
MEZZO_API Value rad2deg(const Value& x);
/// pi for negative numbers and -0, else 0: the angle of real numbers.
MEZZO_API Value angle(const Value& x);
/// @}

}  // namespace mezzo
