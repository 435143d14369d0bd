#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/held.hpp>
#include <mezzo/core/namespaces.hpp>
#include <mezzo/core/shared.hpp>

namespace mezzo {

namespace detail {
/// Calls that a handle passes on to its object. Specialized for families that are called.
template <class Base>
struct AnyCalls {};
}  // namespace detail

/// Handle for a family of classes (Layer, Loss, Metric, Optimizer, ...). It is constructed from a value of a derived
/// class or from a name, if the family has `static Any<Base> from_name(const std::string&)`. Copies share the object,
/// except inside a CloneScope.
template <class Base>
class Any : public detail::AnyCalls<Base> {
 public:
  /// An empty handle.
  Any() = default;

  /// Stores a value of a derived class.
  template <class D, class = std::enable_if_t<std::is_base_of_v<Base, D>>>
  Any(D derived)
      : pointer_(std::make_shared<D>(std::move(derived))), copy_([](const Base& base) -> std::shared_ptr<Base> {
          return std::make_shared<D>(static_cast<const D&>(base));
        }) {}

  /// Shares the object of a handle of a derived family: the Any<Model> of load_model() as a layer. An empty handle
  /// stays empty.
  template <class D, class = std::enable_if_t<std::is_base_of_v<Base, D> && !std::is_same_v<Base, D>>>
  Any(const Any<D>& derived) : pointer_(derived.pointer_) {
    if (!derived.copy_) return;
    copy_ = [copy = derived.copy_](const Base& base) -> std::shared_ptr<Base> {
      return copy(static_cast<const D&>(base));
    };
  }

  /// Converts a value of another family if Base::adopt accepts it: a Loss as a Metric.
  template <class D, class B = Base, class = decltype(B::adopt(std::declval<D>()))>
  Any(D other) : Any(B::adopt(std::move(other))) {}

  /// Looks up a name. Throws what from_name() throws.
  template <class B = Base, class = decltype(B::from_name(std::string()))>
  Any(const char* name) : Any(B::from_name(name)) {}
  template <class B = Base, class = decltype(B::from_name(std::string()))>
  Any(const std::string& name) : Any(B::from_name(name)) {}
  Any(std::nullptr_t) = delete;  // also a literal 0, which is not a name

  Any(const Any& other)
      : detail::AnyCalls<Base>(),
        pointer_(detail::CloneScope::current() != nullptr && other.pointer_ ? other.copy_(*other.pointer_)
                                                                            : other.pointer_),
        copy_(other.copy_) {}
  Any(Any&&) noexcept = default;
  Any& operator=(Any other) noexcept {
    pointer_ = std::move(other.pointer_);
    copy_ = other.copy_;
    return *this;
  }
  ~Any() = default;

  /// The object. A ValueError that names the family for an empty handle.
  Base* operator->() const {
    if (!pointer_) detail::fail_empty(typeid(Base));
    return pointer_.get();
  }
  Base& operator*() const { return *operator->(); }
  /// False for an empty handle.
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  template <class Other>
  friend class Any;

  std::shared_ptr<Base> pointer_;
  std::function<std::shared_ptr<Base>(const Base&)> copy_;  // copies an object of the derived class
};

}  // namespace mezzo
