#pragma once
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo::layers {

struct ActivationOptions {
  mezzo::Activation activation{};
  std::string name{};
  Policy dtype{};
};

/// An activation function as a layer of its own: `layers::Activation({.activation = "relu"})`. mezzo::Activation is the
/// function; it becomes this layer where a layer is taken.
class Activation : public Layer {
 public:
  explicit Activation(ActivationOptions options = {}) : Layer("Activation", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override { return options_.activation(x); }

 private:
  ActivationOptions options_;
};

}  // namespace mezzo::layers
