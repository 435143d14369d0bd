#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct LayerNormalizationOptions {
  detail::Ints axis = -1;  ///< axis or axes to normalize over: -1 or {-2, -1}; negative axes count from the end
  double epsilon = 1e-3;   ///< added to the variance, at least 0
  bool center = true;      ///< true: adds beta
  bool scale = true;       ///< true: multiplies by gamma
  Any<Initializer> beta_initializer = "zeros";  ///< initial beta
  Any<Initializer> gamma_initializer = "ones";  ///< initial gamma
  Any<Regularizer> beta_regularizer{};          ///< penalty of beta, added to the loss
  Any<Regularizer> gamma_regularizer{};         ///< penalty of gamma, added to the loss
  Any<Constraint> beta_constraint{};            ///< projects beta after each update
  Any<Constraint> gamma_constraint{};           ///< projects gamma after each update
  std::string name{};     ///< name of the layer; "": automatic ("layer_normalization", "layer_normalization_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, with mean and biased variance over the given axes, in training
/// and in inference (Ba et al., 2016). Weights: gamma, beta, with the sizes of those axes, in at least float32.
class MEZZO_API LayerNormalization : public Layer {
 public:
  /// A ValueError for an epsilon below 0 or no axis.
  explicit LayerNormalization(LayerNormalizationOptions options = {});

  /// A ShapeError for an axis that the input doesn't have, a ValueError for an axis given twice.
  void build(const Shape& input) override;
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  Shape axes_of(std::size_t rank) const;
  Value normalize(const Value& x, const Shape& shape);

  LayerNormalizationOptions options_;
  Variable gamma_{"gamma"};
  Variable beta_{"beta"};
};

}  // namespace mezzo
