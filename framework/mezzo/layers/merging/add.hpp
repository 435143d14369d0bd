#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct AddOptions {
  std::string name{};  ///< name of the layer; "": automatic ("add", "add_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Sum of two or more inputs, with numpy's broadcasting: `Add()({a, b})`.
class MEZZO_API Add : public Layer {
 public:
  explicit Add(const AddOptions& options = {}) : Layer("Add", options) {}

  /// Sum of several Values, which broadcast: `Add()({a, b})`.
  Value operator()(const Values& xs, const CallOptions& options = {}) { return Layer::operator()(xs, options).front(); }
  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }
  Values compute_mask(const Values& inputs, const Values& masks) const override;

 protected:
  Values call_many(const Values& xs) override;
};

namespace layers {
/// Sum of Values, as the layer: `layers::add({a, b})`.
inline Value add(const Values& xs) { return Add()(xs); }
}  // namespace layers

}  // namespace mezzo
