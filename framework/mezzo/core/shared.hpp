#pragma once
#include <map>
#include <memory>
#include <utility>

#include <mezzo/core/api.hpp>

namespace mezzo {

namespace detail {
/// Makes copies of Shared pointers deep for its lifetime, on this thread. Each object is copied once, so that objects
/// with several owners are shared by the copies too. `clone()` uses it.
class MEZZO_API CloneScope {
 public:
  CloneScope();
  ~CloneScope();
  CloneScope(const CloneScope&) = delete;
  CloneScope& operator=(const CloneScope&) = delete;

  /// The innermost scope of this thread, or null.
  static CloneScope* current();

  /// Copies by the address of the original.
  std::map<const void*, std::shared_ptr<void>> twins;

 private:
  CloneScope* outer_;
};

/// A shared pointer. Copies share the object, as references in Python do, except inside a CloneScope, where copies are
/// deep. T needs a constructor from T::Blank and `void copy_from(const T&)`.
template <class T>
class Shared {
 public:
  explicit Shared(std::shared_ptr<T> pointer) : pointer_(std::move(pointer)) {}
  template <class... Arguments>
  explicit Shared(std::in_place_t, Arguments&&... arguments)
      : pointer_(std::make_shared<T>(std::forward<Arguments>(arguments)...)) {}
  Shared(const Shared& other) : pointer_(twin(other.pointer_)) {}
  // Moving shares, so that a moved-from layer keeps its weights.
  Shared(Shared&& other) noexcept : pointer_(other.pointer_) {}  // NOLINT(performance-move-constructor-init)
  Shared& operator=(const Shared& other) {
    if (this != &other) pointer_ = twin(other.pointer_);
    return *this;
  }
  Shared& operator=(Shared&& other) noexcept {
    pointer_ = other.pointer_;
    return *this;
  }
  ~Shared() = default;

  T* operator->() const { return pointer_.get(); }
  T& operator*() const { return *pointer_; }
  T* get() const { return pointer_.get(); }
  const std::shared_ptr<T>& pointer() const { return pointer_; }

 private:
  static std::shared_ptr<T> twin(const std::shared_ptr<T>& original) {
    CloneScope* scope = CloneScope::current();
    if (scope == nullptr || !original) return original;
    auto& copy = scope->twins[original.get()];
    if (!copy) {
      auto fresh = std::make_shared<T>(typename T::Blank{});
      copy = fresh;
      fresh->copy_from(*original);
    }
    return std::static_pointer_cast<T>(copy);
  }

  std::shared_ptr<T> pointer_;
};

/// A shared pointer to a cache. Copies share it; copies inside a CloneScope start without one.
template <class T>
class Transient {
 public:
  Transient() = default;
  Transient(const Transient& other) : pointer_(other.kept()) {}
  Transient(Transient&&) noexcept = default;
  Transient& operator=(const Transient& other) {
    pointer_ = other.kept();
    return *this;
  }
  Transient& operator=(Transient&&) noexcept = default;
  ~Transient() = default;

  const std::shared_ptr<T>& pointer() const { return pointer_; }
  void set(std::shared_ptr<T> pointer) { pointer_ = std::move(pointer); }

 private:
  std::shared_ptr<T> kept() const { return CloneScope::current() == nullptr ? pointer_ : nullptr; }

  std::shared_ptr<T> pointer_;
};
}  // namespace detail

/// Deep copy of a layer, a model or any object that consists of Shared pointers. It has weights of its own; weights
/// that the original uses several times are shared in the copy too.
template <class L>
L clone(const L& original) {
  detail::CloneScope scope;
  return L(original);
}

}  // namespace mezzo
