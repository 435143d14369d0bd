#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

struct Conv2DOptions {
  std::int64_t filters = 0;   ///< required; channels of the output, at least 1 and a multiple of groups
  Ints kernel_size = Ints();  ///< required; height and width of the kernel, one number for both; at least 1
  Ints strides = 1;           ///< step between outputs, one number or {height, width}; at least 1
  Padding padding = "valid";  ///< "valid" (none), "same", or numbers as in torch (pixels on either side)
  Ints dilation_rate = 1;     ///< step between the kernel's taps, one number or {height, width}; at least 1
  std::int64_t groups = 1;    ///< number of groups of channels that do not mix; divides input and output channels
  Activation activation{};    ///< name or function, applied to the output; default: linear
  bool use_bias = true;       ///< true: adds a bias per filter
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  std::string name{};                                      ///< name of the layer; "": automatic ("conv2d", "conv2d_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Convolution of images (batch, height, width, channels) with `filters` kernels. Weights: kernel (height, width,
/// channels / groups, filters), bias (filters,).
class MEZZO_API Conv2D : public Layer {
 public:
  /// A ValueError for a number below 1, or if groups doesn't divide filters.
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
