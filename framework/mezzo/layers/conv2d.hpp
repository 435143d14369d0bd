#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

struct Conv2DOptions {
  detail::Named named{};            ///< leave it out
  std::int64_t filters = 0;         ///< required; channels of the output, at least 1 and a multiple of groups
  Ints kernel_size = Ints();        ///< required; height and width of the kernel, one number for both; at least 1
  Ints strides = 1;                 ///< step between outputs, one number or {height, width}; at least 1
  Padding padding = "valid";        ///< "valid" (none), "same", or numbers as in torch (pixels on either side)
  Ints dilation_rate = 1;           ///< step between the kernel's taps, one number or {height, width}; at least 1
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

/// Convolution of images (batch, height, width, channels) with `filters` kernels. Weights: kernel (height, width,
/// channels / groups, filters), bias (filters,).
class MEZZO_API Conv2D : public Layer {
 public:
  /// A ValueError for a number below 1, or if groups doesn't divide filters.
  explicit Conv2D(Conv2DOptions options = {});

  /// Positional: `Conv2D(32, 3, {.strides = 2})`, `Conv2D(32, {3, 5})`, `Conv2D(32, {.kernel_size = 3})`.
  template <class I, detail::IfInteger<I> = 0>
  explicit Conv2D(I filters, Conv2DOptions options = {})
      : Conv2D(detail::positional("Conv2D", options.name, "filters", &Conv2DOptions::filters,
                                  static_cast<std::int64_t>(filters), options)) {}

  template <class I, class S, detail::IfInteger<I> = 0, detail::IfOther<S, Ints> = 0>
  explicit Conv2D(I filters, const S& kernel_size, Conv2DOptions options = {})
      : Conv2D(filters, Ints(kernel_size), std::move(options)) {}
  template <class I, class S = Ints, detail::IfInteger<I> = 0, detail::IfSame<S, Ints> = 0>
  explicit Conv2D(I filters, const S& kernel_size, Conv2DOptions options = {})
      : Conv2D(filters, detail::positional("Conv2D", options.name, "kernel_size", &Conv2DOptions::kernel_size,
                                           kernel_size, options)) {}
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  Conv2DOptions options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

}  // namespace mezzo
