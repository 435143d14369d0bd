#pragma once
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

/// `filters` (channels of the output) and `kernel_size` have to be given. `padding`: "valid", "same", or torch's
/// numbers. `groups` divides the channels of input and output.
struct Conv2DOptions {
  std::int64_t filters = 0;
  Ints kernel_size = Ints();
  Ints strides = 1;
  Padding padding = "valid";
  Ints dilation_rate = 1;
  std::int64_t groups = 1;
  Activation activation{};
  bool use_bias = true;
  Any<Initializer> kernel_initializer = "glorot_uniform";
  Any<Initializer> bias_initializer = "zeros";
  std::string name{};
  Policy dtype{};
  bool trainable = true;
};

/// Convolution of images (batch, height, width, channels) with `filters` kernels. Weights: kernel (height, width,
/// channels / groups, filters), bias (filters,).
class Conv2D : public Layer {
 public:
  /// A ValueError for numbers below 1, or filters that groups doesn't divide.
  explicit Conv2D(Conv2DOptions options = {});
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  Conv2DOptions options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

}  // namespace mezzo
