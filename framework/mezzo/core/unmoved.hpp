#pragma once
#include <memory>
#include <typeinfo>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>

namespace mezzo::detail {

/// The pointer, a member of an Owner that is never null unless its object was moved from: a ValueError then.
template <class Owner, class T>
const std::shared_ptr<T>& unmoved(const std::shared_ptr<T>& member) {
  if (!member) fail_moved(typeid(Owner));
  return member;
}

/// Base of families of classes (Loss, Optimizer, ...) whose objects can't be used after they were moved from. A class
/// that declares a destructor of its own has no move: its objects are copied, and stay usable.
class MEZZO_API MoveChecked {
 public:
  virtual ~MoveChecked() = default;

  /// Throws a ValueError that names the class of the object if it was moved from.
  void check_not_moved() const {
    if (!usable_) fail_moved(typeid(*this));
  }

 protected:
  MoveChecked() = default;
  MoveChecked(const MoveChecked&) = default;
  MoveChecked(MoveChecked&&) = default;
  MoveChecked& operator=(const MoveChecked&) = default;
  MoveChecked& operator=(MoveChecked&&) = default;

 private:
  UnlessMoved usable_ = true;
};

}  // namespace mezzo::detail
