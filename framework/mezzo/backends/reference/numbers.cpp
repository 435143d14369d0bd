#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

#include <mezzo/backends/reference/as_seen.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/pairs.hpp>

// Functions of two operands in which integers keep their dtype: extremes, divisions, powers, bits.
namespace mezzo::reference {
namespace {

/// a / b rounded towards 0 and its remainder, without traps: 0 and 0 for a divisor of 0, wrapping for the least number
/// divided by -1.
template <class T>
struct Division {
  T quotient = 0, rest = 0;

  Division(T a, T b) {
    if (b == 0) return;
    const bool by_minus_1 = std::is_signed_v<T> && b == static_cast<T>(-1);
    quotient = by_minus_1 ? static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a)) : static_cast<T>(a / b);
    rest = by_minus_1 ? T{0} : static_cast<T>(a % b);
  }
};

struct Mod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(T{0}, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;  // a NaN stays a NaN
    } else {
      const Division<T> division(a, b);
      return division.rest != 0 && (division.rest < 0) != (b < 0) ? static_cast<T>(division.rest + b) : division.rest;
    }
  }
};

struct Fmod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      return Division<T>(a, b).rest;
    }
  }
};

/// NumPy's formula: the remainder is subtracted before the division, whose result is rounded to an integer.
struct FloorDivide {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (b == 0) return a / b;
      const T rest = std::fmod(a, b);
      const T quotient = (a - rest) / b - static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
      if (quotient == 0) return std::copysign(T{0}, a / b);
      const T floor = std::floor(quotient);
      return quotient - floor > T{0.5} ? floor + 1 : floor;
    } else {
      const Division<T> division(a, b);
      const bool down = division.rest != 0 && (division.rest < 0) != (b < 0);
      return down ? static_cast<T>(division.quotient - 1) : division.quotient;
    }
  }
};

/// Integers by repeated squaring, unsigned, so that overflow is defined. The sign of a byte is extended, and cut off
/// with the result.
struct Power {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    } else {
      if (b < 0) return a == 1 ? T{1} : a == static_cast<T>(-1) ? static_cast<T>(b % 2 == 0 ? 1 : -1) : T{0};
      // NOLINTBEGIN(bugprone-signed-char-misuse)
      auto base = static_cast<std::uint64_t>(a), result = std::uint64_t{1};
      for (auto exponent = static_cast<std::uint64_t>(b); exponent != 0; exponent >>= 1) {
        // NOLINTEND(bugprone-signed-char-misuse)
        if ((exponent & 1) != 0) result *= base;
        base *= base;
      }
      return static_cast<T>(result);
    }
  }
};

/// A function that calls the C library, with denormals replaced by 0 where arithmetic treats them as 0.
template <class Function>
struct Seen {
  template <class T>
  T operator()(T a, T b) const {
    return Function{}(as_seen(a), as_seen(b));
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

/// Calls the function for integers; compiled for no other dtype.
template <class Function>
struct OfIntegers {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a;
    } else {
      return static_cast<T>(Function{}(a, b));
    }
  }
};

struct Shift {
  /// True if the shift by b is defined.
  template <class T>
  static bool inside(T b) {
    return b >= 0 && b < std::numeric_limits<std::make_unsigned_t<T>>::digits;
  }
};

struct LeftShift : Shift {
  template <class T>
  T operator()(T a, T b) const {
    return inside(b) ? static_cast<T>(static_cast<std::uint64_t>(a) << static_cast<unsigned>(b)) : T{0};
  }
};

struct RightShift : Shift {
  template <class T>
  T operator()(T a, T b) const {
    return inside(b) ? static_cast<T>(a >> static_cast<unsigned>(b)) : static_cast<T>(a < 0 ? -1 : 0);
  }
};

/// Euclid's algorithm on the magnitudes, unsigned.
struct Gcd {
  template <class T>
  T operator()(T a, T b) const {
    const auto magnitude = [](T x) {
      return x < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    };
    return static_cast<T>(std::gcd(magnitude(a), magnitude(b)));
  }
};

struct And {
  template <class T>
  auto operator()(T a, T b) const {
    return a & b;
  }
};

struct Or {
  template <class T>
  auto operator()(T a, T b) const {
    return a | b;
  }
};

struct Xor {
  template <class T>
  auto operator()(T a, T b) const {
    return a ^ b;
  }
};

}  // namespace

// A row for each op: its name and its function object.
#define MEZZO_OF_NUMBERS(name, function)                                                     \
  std::unique_ptr<Kernel> create_##name(const KernelRequest& request, std::string& reason) { \
    return pairs_of_numbers(request, reason, function);                                      \
  }
MEZZO_OF_NUMBERS(mod, Seen<Mod>{})
MEZZO_OF_NUMBERS(fmod, Seen<Fmod>{})
MEZZO_OF_NUMBERS(floor_divide, Seen<FloorDivide>{})
MEZZO_OF_NUMBERS(power, Seen<Power>{})
MEZZO_OF_NUMBERS(maximum, Maximum{})
MEZZO_OF_NUMBERS(minimum, Minimum{})
MEZZO_OF_NUMBERS(left_shift, OfIntegers<LeftShift>{})
MEZZO_OF_NUMBERS(right_shift, OfIntegers<RightShift>{})
MEZZO_OF_NUMBERS(gcd, OfIntegers<Gcd>{})
MEZZO_OF_NUMBERS(bitwise_and, OfIntegers<And>{})
MEZZO_OF_NUMBERS(bitwise_or, OfIntegers<Or>{})
MEZZO_OF_NUMBERS(bitwise_xor, OfIntegers<Xor>{})
#undef MEZZO_OF_NUMBERS

}  // namespace mezzo::reference
