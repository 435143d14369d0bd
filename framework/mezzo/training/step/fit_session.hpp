#pragma once
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/module/session.hpp>

namespace mezzo {

class Callback;

namespace detail {

/// Callbacks by the names under which checkpoints keep their states.
using NamedCallbacks = std::vector<std::pair<std::string, Callback*>>;

/// The Session of a fit, as checkpoints see it.
class FitSession : public Session {
 public:
  /// Callbacks whose state checkpoints keep.
  virtual NamedCallbacks stateful() const = 0;
};

}  // namespace detail
}  // namespace mezzo
