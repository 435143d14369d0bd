#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct MultiplyOptions {
  std::string name{};  ///< name of the layer; "": automatic ("multiply", "multiply_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Product of two or more inputs, with numpy's broadcasting: `Multiply()({a, b})`.
class MEZZO_API Multiply : public Layer {
 public:
  explicit Multiply(const MultiplyOptions& options = {}) : Layer("Multiply", options) {}

  /// Product of several Values, which broadcast: `Multiply()({a, b})`.
  Value operator()(const Values& xs, const CallOptions& options = {}) { return Layer::operator()(xs, options).front(); }
  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }
  Values compute_mask(const Values& inputs, const Values& masks) const override;

 protected:
  Values call_many(const Values& xs) override;
};

namespace layers {
/// Product of Values, as the layer: `layers::multiply({a, b})`.
inline Value multiply(const Values& xs) { return Multiply()(xs); }
}  // namespace layers

}  // namespace mezzo
