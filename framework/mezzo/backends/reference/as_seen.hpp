#pragma once
#include <cmath>
#include <type_traits>

namespace mezzo::reference {

/// x, or 0 with the sign of x if x is a denormal number that arithmetic treats as 0. Functions of the C library do not
/// treat it as 0.
template <class T>
T as_seen(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x == 0 ? std::copysign(T{0}, x) : x;
  } else {
    return x;
  }
}

}  // namespace mezzo::reference
