#pragma once
#include <mezzo/layers/convolutional/conv.hpp>

namespace mezzo {

struct Conv2DOptions {
  detail::Named named{};     ///< leave it out
  std::int64_t filters = 0;  ///< required; channels of the output, at least 1 and a multiple of groups
  detail::Ints kernel_size =
      detail::Ints();                 ///< required; height and width of the kernel, one number for both; at least 1
  detail::Ints strides = 1;           ///< step between outputs, one number or {height, width}; at least 1
  detail::Padding padding = "valid";  ///< "valid" (none), "same", or numbers as in torch (pixels on either side)
  detail::Ints dilation_rate = 1;     ///< step between the kernel's taps, one number or {height, width}; at least 1
  std::int64_t groups = 1;          ///< number of groups of channels that do not mix; divides input and output channels
  ActivationFunction activation{};  ///< name or function, applied to the output; default: linear
  bool use_bias = true;             ///< true: adds a bias per filter
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias, added to the loss
  Any<Regularizer> activity_regularizer{};                 ///< penalty of the output, divided by the batch size
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> bias_constraint{};                       ///< projects the bias after each update
  std::string name{};                                      ///< name of the layer; "": automatic ("conv2d", "conv2d_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

namespace detail {
extern template class ConvLayer<2>;
}

/// Convolution of images (batch, height, width, channels) with `filters` kernels: `Conv2D(32, 3, {.strides = 2})`,
/// `Conv2D(32, {3, 5})`, `Conv2D(32, {.kernel_size = 3})`. Weights: kernel (height, width, channels / groups, filters),
/// bias (filters,). Channels are last (Keras' channels_last).
class MEZZO_API Conv2D : public detail::FiltersFirst<detail::ConvLayer<2>> {
 public:
  using FiltersFirst::FiltersFirst;
};

/// Keras' other name.
using Convolution2D = Conv2D;

}  // namespace mezzo
