#pragma once
#include <memory>
#include <typeinfo>
#include <utility>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Throws a ValueError for a handle of this family that holds no object: `[Initializer] ...`.
[[noreturn]] MEZZO_API void fail_empty(const std::type_info& family);

/// Throws a ValueError for an object that was moved from: `[PolicyMap] ...`. For a nested class such as
/// `CSVLogger::State` the text names the outer one.
[[noreturn]] MEZZO_API void fail_moved(const std::type_info& type);

/// A flag that moving from its object clears.
class UnlessMoved {
 public:
  UnlessMoved(bool set) : set_(set) {}
  UnlessMoved(const UnlessMoved&) = default;
  UnlessMoved(UnlessMoved&& other) noexcept : set_(std::exchange(other.set_, false)) {}
  UnlessMoved& operator=(const UnlessMoved&) = default;
  UnlessMoved& operator=(UnlessMoved&& other) noexcept {
    set_ = std::exchange(other.set_, false);
    return *this;
  }
  ~UnlessMoved() = default;

  operator bool() const { return set_; }

 private:
  bool set_;
};

/// Pointer to the state that copies of an object share. Reading it in an object that was moved from is a ValueError.
template <class T>
class Held {
 public:
  Held(std::shared_ptr<T> pointer) : pointer_(std::move(pointer)) {}

  T* operator->() const {
    if (!pointer_) fail_moved(typeid(T));
    return pointer_.get();
  }
  T& operator*() const { return *operator->(); }

 private:
  std::shared_ptr<T> pointer_;
};

}  // namespace mezzo::detail
