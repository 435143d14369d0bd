#pragma once
#include <memory>

#include <mezzo/core/held.hpp>

namespace mezzo::detail {

/// The pointer, a member of an Owner that is never null unless its object was moved from: a ValueError then.
template <class Owner, class T>
const std::shared_ptr<T>& unmoved(const std::shared_ptr<T>& member) {
  if (!member) fail_moved(typeid(Owner));
  return member;
}

}  // namespace mezzo::detail
