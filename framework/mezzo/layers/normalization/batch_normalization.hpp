#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct BatchNormalizationOptions {
  std::int64_t axis = -1;                                 ///< axis of the channels; negative axes count from the end
  double momentum = 0.99;                                 ///< weight of the old moving statistics, in [0, 1]
  double epsilon = 1e-3;                                  ///< added to the variance, at least 0
  bool center = true;                                     ///< true: adds beta
  bool scale = true;                                      ///< true: multiplies by gamma
  Any<Initializer> beta_initializer = "zeros";            ///< initial beta
  Any<Initializer> gamma_initializer = "ones";            ///< initial gamma
  Any<Initializer> moving_mean_initializer = "zeros";     ///< initial moving_mean
  Any<Initializer> moving_variance_initializer = "ones";  ///< initial moving_variance
  Any<Regularizer> beta_regularizer{};                    ///< penalty of beta, added to the loss
  Any<Regularizer> gamma_regularizer{};                   ///< penalty of gamma, added to the loss
  Any<Constraint> beta_constraint{};                      ///< projects beta after each update
  Any<Constraint> gamma_constraint{};                     ///< projects gamma after each update
  bool synchronized = false;  ///< true: statistics over the samples of all ranks of a training (docs/distributed.md)
  std::string name{};         ///< name of the layer; "": automatic ("batch_normalization", "batch_normalization_1")
  Policy dtype{};             ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;      ///< false: training does not change the weights
};

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, per channel (Ioffe and Szegedy, 2015). Training uses the batch's
/// mean and biased variance and updates moving_mean and moving_variance with them. Inference, and a frozen layer, use
/// moving_mean and moving_variance. With a mask (one axis less than the input) the batch's statistics are over the
/// positions where the mask is true. Weights: gamma, beta, moving_mean, moving_variance, each (channels,), in at least
/// float32.
class MEZZO_API BatchNormalization : public Layer {
 public:
  /// A ValueError for a momentum outside [0, 1] or an epsilon below 0.
  explicit BatchNormalization(BatchNormalizationOptions options = {});
  void build(const Shape& input) override;
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  void add_channel_weight(Variable& variable, WeightOptions options);
  Value normalize(const Value& x, const Value& mask);
  Values normalize_masked(const Values& operands) const;

  BatchNormalizationOptions options_;
  Variable gamma_{"gamma"};
  Variable beta_{"beta"};
  Variable moving_mean_{"moving_mean"};
  Variable moving_variance_{"moving_variance"};
};

}  // namespace mezzo
