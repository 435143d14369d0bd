#pragma once
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// An activation function by name ("exp", "gelu", "linear", "relu", "sigmoid", "softmax", "tanh"), or any function of
/// one Value. "gelu" is the exact variant, "softmax" is along the last axis. Default: linear.
class MEZZO_API Activation {
 public:
  Activation() = default;

  /// Throws a NameError that lists the valid names if `name` is unknown.
  Activation(const std::string& name);
  Activation(const char* name) : Activation(std::string(name)) {}

  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Value, F, const Value&>>>
  Activation(F function) : function_(std::move(function)) {}

  Value operator()(const Value& x) const { return function_ ? function_(x) : x; }

 private:
  std::function<Value(const Value&)> function_;
};

}  // namespace mezzo
