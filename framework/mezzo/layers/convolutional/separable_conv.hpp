#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/first_arguments.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

/// Options of SeparableConv1D and SeparableConv2D. Numbers for the spatial axes are one for all or one for each.
struct SeparableConvOptions {
  detail::Named named{};                      ///< leave it out
  std::int64_t filters = 0;                   ///< required; channels of the output, at least 1
  detail::Ints kernel_size = detail::Ints();  ///< required; sizes of the depthwise kernel, at least 1
  detail::Ints strides = 1;                   ///< step between outputs, at least 1
  std::string padding = "valid";              ///< "valid" (none) or "same"
  detail::Ints dilation_rate = 1;             ///< step between the depthwise kernel's taps, at least 1
  std::int64_t depth_multiplier = 1;          ///< channels between the convolutions for each input channel, at least 1
  ActivationFunction activation{};            ///< name or function, applied to the output; default: linear
  bool use_bias = true;                       ///< true: adds a bias per filter
  Any<Initializer> depthwise_initializer = "glorot_uniform";  ///< initial depthwise kernel
  Any<Initializer> pointwise_initializer = "glorot_uniform";  ///< initial pointwise kernel
  Any<Initializer> bias_initializer = "zeros";                ///< initial bias
  Any<Regularizer> depthwise_regularizer{};                   ///< penalty of the depthwise kernel, added to the loss
  Any<Regularizer> pointwise_regularizer{};                   ///< penalty of the pointwise kernel, added to the loss
  Any<Regularizer> bias_regularizer{};                        ///< penalty of the bias, added to the loss
  Any<Regularizer> activity_regularizer{};                    ///< penalty of the output, divided by the batch size
  Any<Constraint> depthwise_constraint{};                     ///< projects the depthwise kernel after each update
  Any<Constraint> pointwise_constraint{};                     ///< projects the pointwise kernel after each update
  Any<Constraint> bias_constraint{};                          ///< projects the bias after each update
  std::string name{};     ///< name of the layer; "": automatic ("separable_conv2d", "separable_conv2d_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

namespace detail {

/// Common part of SeparableConv1D and SeparableConv2D.
template <std::size_t Axes>
class MEZZO_API SeparableConvLayer : public Layer {
 public:
  using Options = SeparableConvOptions;
  static constexpr const char* kind = Axes == 1 ? "SeparableConv1D" : "SeparableConv2D";

  /// A ValueError for a number below 1, a NameError for an unknown padding.
  explicit SeparableConvLayer(Options options);
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  Options options_;
  Variable depthwise_kernel_{"depthwise_kernel"};
  Variable pointwise_kernel_{"pointwise_kernel"};
  Variable bias_{"bias"};
};

extern template class SeparableConvLayer<1>;
extern template class SeparableConvLayer<2>;

}  // namespace detail
}  // namespace mezzo
