#pragma once
#include <utility>

namespace mezzo {

/// While one lives, a place has another value; then again the one that it had.
template <class T>
class ScopedValue {
 public:
  ScopedValue(T& place, T value) : place_(place), outer_(std::exchange(place, std::move(value))) {}
  ~ScopedValue() { place_ = std::move(outer_); }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T& place_;
  T outer_;
};

}  // namespace mezzo
