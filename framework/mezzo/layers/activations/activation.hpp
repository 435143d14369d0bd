#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

struct ActivationOptions {
  ActivationFunction activation{};  ///< name ("relu") or function of one Value; default: linear
  std::string name{};               ///< name of the layer; "": automatic ("activation", "activation_1")
  Policy dtype{};                   ///< precision policy; default: the policy of the enclosing layer or model
};

/// Activation function as a layer: `Activation("relu")`, `Activation(sigmoid)`, `Activation([](const Value& x) { return
/// x * sigmoid(x); })`. Options of other layers hold an ActivationFunction.
class MEZZO_API Activation : public Layer {
 public:
  explicit Activation(ActivationOptions options = {}) : Layer("Activation", options), options_(std::move(options)) {}

  /// Positional: a name, a function of one Value, or another layer. A NameError for an unknown name, a ValueError if
  /// `options` has an activation too.
  template <class F, class = std::enable_if_t<std::is_convertible_v<F, ActivationFunction> &&
                                              !std::is_same_v<std::decay_t<F>, Activation>>>
  explicit Activation(const F& activation, ActivationOptions options = {})
      : Activation(with(ActivationFunction(activation), std::move(options))) {}

  /// The same for a function, also where C has one of that name: `Activation(tanh)`.
  explicit Activation(Value (*activation)(const Value&), ActivationOptions options = {})
      : Activation(with(ActivationFunction(activation), std::move(options))) {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override { return options_.activation(x); }

 private:
  static ActivationOptions with(ActivationFunction activation, ActivationOptions options) {
    if (options.activation.given()) detail::fail_given_twice("Activation", options.name, "activation");
    options.activation = std::move(activation);
    return options;
  }

  ActivationOptions options_;
};

}  // namespace mezzo
