#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/first_arguments.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

/// Options of DepthwiseConv1D and DepthwiseConv2D. Numbers for the spatial axes are one for all or one for each.
struct DepthwiseConvOptions {
  detail::Named named{};                      ///< leave it out
  detail::Ints kernel_size = detail::Ints();  ///< required; sizes of the kernel, at least 1
  detail::Ints strides = 1;                   ///< step between outputs, at least 1
  std::string padding = "valid";              ///< "valid" (none) or "same"
  std::int64_t depth_multiplier = 1;          ///< output channels for each input channel, at least 1
  detail::Ints dilation_rate = 1;             ///< step between the kernel's taps, at least 1
  ActivationFunction activation{};            ///< name or function, applied to the output; default: linear
  bool use_bias = true;                       ///< true: adds a bias per output channel
  Any<Initializer> depthwise_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> bias_initializer = "zeros";                ///< initial bias
  Any<Regularizer> depthwise_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> bias_regularizer{};                        ///< penalty of the bias, added to the loss
  Any<Regularizer> activity_regularizer{};                    ///< penalty of the output, divided by the batch size
  Any<Constraint> depthwise_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> bias_constraint{};                          ///< projects the bias after each update
  std::string name{};     ///< name of the layer; "": automatic ("depthwise_conv2d", "depthwise_conv2d_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

namespace detail {

/// Common part of DepthwiseConv1D and DepthwiseConv2D.
template <std::size_t Axes>
class MEZZO_API DepthwiseConvLayer : public Layer {
 public:
  using Options = DepthwiseConvOptions;
  static constexpr const char* kind = Axes == 1 ? "DepthwiseConv1D" : "DepthwiseConv2D";
  static constexpr Ints Options::*first = &Options::kernel_size;
  static constexpr const char* first_name = "kernel_size";

  /// A ValueError for a number below 1, a NameError for an unknown padding.
  explicit DepthwiseConvLayer(Options options);
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  Options options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

extern template class DepthwiseConvLayer<1>;
extern template class DepthwiseConvLayer<2>;

}  // namespace detail
}  // namespace mezzo
