#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

struct DenseOptions {
  std::int64_t units = 0;                                  ///< required; size of the output's last axis, at least 1
  ActivationFunction activation{};                         ///< name or function, applied to the output; default: linear
  bool use_bias = true;                                    ///< true: adds a bias per unit
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias, added to the loss
  Any<Regularizer> activity_regularizer{};                 ///< penalty of the output, divided by the batch size
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> bias_constraint{};                       ///< projects the bias after each update
  std::string name{};                                      ///< name of the layer; "": automatic ("dense", "dense_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// activation(x kernel + bias) over the last axis of x: (..., in) becomes (..., units). Weights: kernel (in, units),
/// bias (units,).
class MEZZO_API Dense : public Layer {
 public:
  /// A ValueError if units is below 1.
  explicit Dense(DenseOptions options = {});

  /// Positional: `Dense(10, {.activation = "relu"})`.
  template <class I, detail::IfInteger<I> = 0>
  explicit Dense(I units, DenseOptions options = {})
      : Dense(detail::positional("Dense", options.name, "units", &DenseOptions::units, static_cast<std::int64_t>(units),
                                 options)) {}
  void build(const Shape& input) override;
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  DenseOptions options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

}  // namespace mezzo
