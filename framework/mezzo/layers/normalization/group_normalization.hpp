#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct GroupNormalizationOptions {
  std::int64_t groups = 32;  ///< number of groups, a divisor of the number of channels; -1: one for each channel
  std::int64_t axis = -1;    ///< axis of the channels, not 0; negative axes count from the end
  double epsilon = 1e-3;     ///< added to the variance, at least 0
  bool center = true;        ///< true: adds beta
  bool scale = true;         ///< true: multiplies by gamma
  Any<Initializer> beta_initializer = "zeros";  ///< initial beta
  Any<Initializer> gamma_initializer = "ones";  ///< initial gamma
  Any<Regularizer> beta_regularizer{};          ///< penalty of beta, added to the loss
  Any<Regularizer> gamma_regularizer{};         ///< penalty of gamma, added to the loss
  Any<Constraint> beta_constraint{};            ///< projects beta after each update
  Any<Constraint> gamma_constraint{};           ///< projects gamma after each update
  std::string name{};     ///< name of the layer; "": automatic ("group_normalization", "group_normalization_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, with mean and biased variance of each sample and group of
/// channels, computed in at least float32 (Wu and He, 2018). One group is layer normalization over all axes but the
/// batch, one group for each channel is instance normalization. Weights: gamma, beta, each (channels,), in at least
/// float32.
class MEZZO_API GroupNormalization : public Layer {
 public:
  /// A ValueError for groups below 1 other than -1, or an epsilon below 0.
  explicit GroupNormalization(GroupNormalizationOptions options = {});

  /// Positional: `GroupNormalization(8)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit GroupNormalization(I groups, GroupNormalizationOptions options = {})
      : GroupNormalization(detail::positional("GroupNormalization", options.name, "groups",
                                              &GroupNormalizationOptions::groups, static_cast<std::int64_t>(groups),
                                              options)) {}

  /// A ShapeError for an axis that the input doesn't have, or channels that aren't a multiple of groups. A ValueError
  /// for axis 0.
  void build(const Shape& input) override;
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  std::size_t channel_axis(const Shape& input) const;

  GroupNormalizationOptions options_;
  Variable gamma_{"gamma"};
  Variable beta_{"beta"};
};

}  // namespace mezzo
