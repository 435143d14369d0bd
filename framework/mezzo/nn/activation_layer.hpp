#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo::layers {

struct ActivationOptions {
  mezzo::Activation activation{};  ///< name ("relu") or function of one Value; default: linear
  std::string name{};              ///< name of the layer; "": automatic ("activation", "activation_1")
  Policy dtype{};                  ///< precision policy; default: the policy of the enclosing layer or model
};

/// Activation function as a layer: `layers::Activation({.activation = "relu"})`. mezzo::Activation is the function; it
/// converts to this layer where a layer is expected.
class MEZZO_API Activation : public Layer {
 public:
  explicit Activation(ActivationOptions options = {}) : Layer("Activation", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override { return options_.activation(x); }

 private:
  ActivationOptions options_;
};

}  // namespace mezzo::layers
