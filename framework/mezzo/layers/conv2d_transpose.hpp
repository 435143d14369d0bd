#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

struct Conv2DTransposeOptions {
  detail::Named named{};            ///< leave it out
  std::int64_t filters = 0;         ///< required; channels of the output, at least 1
  Ints kernel_size = Ints();        ///< required; height and width of the kernel, one number for both; at least 1
  Ints strides = 1;                 ///< step between inputs in the output, one number or {height, width}; at least 1
  std::string padding = "valid";    ///< "valid" or "same": the output is the input times strides
  Ints output_padding = Ints();     ///< rows and columns added to the end of the output, less than strides; not given:
                                    ///< as many as `padding` says
  Ints dilation_rate = 1;           ///< step between the kernel's taps, one number or {height, width}; at least 1
  ActivationFunction activation{};  ///< name or function, applied to the output; default: linear
  bool use_bias = true;             ///< true: adds a bias per filter
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias, added to the loss
  Any<Regularizer> activity_regularizer{};                 ///< penalty of the output, divided by the batch size
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> bias_constraint{};                       ///< projects the bias after each update
  std::string name{};     ///< name of the layer; "": automatic ("conv2d_transpose", "conv2d_transpose_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Transposed convolution of images (batch, height, width, channels): the gradient of a Conv2D for its input, which
/// makes images larger. With effective kernel k and stride s, a size n becomes n s ("same"), (n - 1) s + max(k, s)
/// ("valid"), or, with output_padding p, (n - 1) s + k % 2 + p ("same") and (n - 1) s + k + p ("valid"). Weights:
/// kernel (height, width, filters, channels), bias (filters,). A ShapeError for inputs of unknown height or width.
class MEZZO_API Conv2DTranspose : public Layer {
 public:
  /// A ValueError for a number below 1, another padding, or an output_padding that is not less than strides.
  explicit Conv2DTranspose(Conv2DTransposeOptions options = {});

  /// Positional: `Conv2DTranspose(32, 3, {.strides = 2})`, `Conv2DTranspose(32, {3, 5})`.
  template <class I, detail::IfInteger<I> = 0>
  explicit Conv2DTranspose(I filters, Conv2DTransposeOptions options = {})
      : Conv2DTranspose(detail::positional("Conv2DTranspose", options.name, "filters", &Conv2DTransposeOptions::filters,
                                           static_cast<std::int64_t>(filters), options)) {}

  template <class I, class S, detail::IfInteger<I> = 0, detail::IfOther<S, Ints> = 0>
  explicit Conv2DTranspose(I filters, const S& kernel_size, Conv2DTransposeOptions options = {})
      : Conv2DTranspose(filters, Ints(kernel_size), std::move(options)) {}
  template <class I, class S = Ints, detail::IfInteger<I> = 0, detail::IfSame<S, Ints> = 0>
  explicit Conv2DTranspose(I filters, const S& kernel_size, Conv2DTransposeOptions options = {})
      : Conv2DTranspose(filters, detail::positional("Conv2DTranspose", options.name, "kernel_size",
                                                    &Conv2DTransposeOptions::kernel_size, kernel_size, options)) {}
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  Conv2DTransposeOptions options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

}  // namespace mezzo
