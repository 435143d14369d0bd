#pragma once
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

/// `units`: size of the output's last axis; has to be given.
struct DenseOptions {
  std::int64_t units = 0;
  Activation activation{};
  bool use_bias = true;
  Any<Initializer> kernel_initializer = "glorot_uniform";
  Any<Initializer> bias_initializer = "zeros";
  std::string name{};
  Policy dtype{};
  bool trainable = true;
};

/// activation(x kernel + bias) over the last axis of x: (..., in) becomes (..., units). Weights: kernel (in, units),
/// bias (units,).
class Dense : public Layer {
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
