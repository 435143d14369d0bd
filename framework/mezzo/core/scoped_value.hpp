#pragma once
#include <utility>

namespace mezzo {

/// Replaces the value of a variable for its lifetime, then restores the previous value.
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
