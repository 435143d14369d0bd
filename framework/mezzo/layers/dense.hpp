#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

struct DenseOptions {
  std::int64_t units = 0;                                  ///< required; size of the output's last axis, at least 1
  Activation activation{};                                 ///< name or function, applied to the output; default: linear
  bool use_bias = true;                                    ///< true: adds a bias per unit
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
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
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  DenseOptions options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

}  // namespace mezzo
