#pragma once
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// An activation function by its name in keras.activations ("relu", "silu", "hard_sigmoid", ...), with Keras' default
/// arguments, or any function of one Value: `[](const Value& x) { return leaky_relu(x, 0.1); }`. "gelu" is the exact
/// variant; "softmax", "log_softmax", "sparsemax" and "glu" are along the last axis. Default: linear.
class MEZZO_API ActivationFunction {
 public:
  ActivationFunction() = default;

  /// The function of that name, a std::string or a literal. Throws a NameError that lists the valid names if it is
  /// unknown. Options in braces belong to the layer Activation and don't compile here.
  template <class S, detail::IfName<S> = 0>
  ActivationFunction(const S& name) : name_(name), function_(find(name_)) {}

  /// A function of one Value, such as a lambda or `relu`. Models with it can't be saved as a config.
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Value, F, const Value&>>>
  ActivationFunction(F function) : function_(std::move(function)) {}

  /// A function of the library or of a program, also where C has one of that name: `tanh`. Null: linear.
  ActivationFunction(Value (*function)(const Value&)) {
    if (function != nullptr) function_ = function;
  }

  /// True if a name or a function was given.
  bool given() const { return static_cast<bool>(function_); }

  /// The given name; "" for a function or if nothing was given.
  const std::string& name() const { return name_; }

  Value operator()(const Value& x) const { return function_ ? function_(x) : x; }  ///< x itself, if nothing was given

 private:
  static std::function<Value(const Value&)> find(const std::string& name);

  std::string name_;
  std::function<Value(const Value&)> function_;
};

}  // namespace mezzo
