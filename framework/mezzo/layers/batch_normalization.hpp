#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `axis`: that of the channels. `momentum` weighs the old moving statistics. Without `center` there is no beta,
/// without `scale` no gamma.
struct BatchNormalizationOptions {
  std::int64_t axis = -1;
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Any<Initializer> beta_initializer = "zeros";
  Any<Initializer> gamma_initializer = "ones";
  Any<Initializer> moving_mean_initializer = "zeros";
  Any<Initializer> moving_variance_initializer = "ones";
  std::string name{};
  Policy dtype{};
  bool trainable = true;
};

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, per channel (Ioffe and Szegedy, 2015): in training with the
/// batch's mean and biased variance, which also move moving_mean and moving_variance; otherwise, or frozen, with the
/// moving ones. Weights: gamma, beta, moving_mean, moving_variance, each (channels,), of at least float32.
class BatchNormalization : public Layer {
 public:
  /// A ValueError for a momentum outside [0, 1] or an epsilon below 0.
  explicit BatchNormalization(BatchNormalizationOptions options = {});
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  void add_channel_weight(Variable& variable, std::int64_t channels, const Any<Initializer>& initializer,
                          bool trainable, const char* file_name);
  Value normalize(const Value& x);

  BatchNormalizationOptions options_;
  Variable gamma_{"gamma"};
  Variable beta_{"beta"};
  Variable moving_mean_{"moving_mean"};
  Variable moving_variance_{"moving_variance"};
};

}  // namespace mezzo
