#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct PReLUOptions {
  Any<Initializer> alpha_initializer = "zeros";  ///< initial slopes
  Any<Regularizer> alpha_regularizer{};          ///< penalty of the slopes, added to the loss
  Any<Constraint> alpha_constraint{};            ///< projects the slopes after each update
  detail::Ints
      shared_axes{};      ///< axes along which the slope is the same, from 1 on: {1, 2} has one slope a channel of NHWC
  std::string name{};     ///< name of the layer; "": automatic ("p_re_lu", "p_re_lu_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Rectified linear unit with learned slopes, elementwise: x above 0, else alpha x (He et al., 2015). Weight: alpha, of
/// the shape of a sample, with size 1 along the shared axes. Weight files have torch's name, and one axis if all other
/// sizes are 1.
class MEZZO_API PReLU : public Layer {
 public:
  explicit PReLU(PReLUOptions options = {}) : Layer("PReLU", options), options_(std::move(options)) {}

  /// A ValueError for a shared axis below 1 or one that the input doesn't have.
  void build(const Shape& input) override;
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override { return relu(x) - alpha_ * relu(-x); }

 private:
  PReLUOptions options_;
  Variable alpha_{"alpha"};
};

}  // namespace mezzo
