#pragma once
#include <cmath>
#include <type_traits>

namespace mezzo::reference {

/// x, or 0 with its sign for a denormal number that arithmetic takes for 0: functions of the C library look at bits.
template <class T>
T as_seen(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x == 0 ? std::copysign(T{0}, x) : x;
  } else {
    return x;
  }
}

}  // namespace mezzo::reference
