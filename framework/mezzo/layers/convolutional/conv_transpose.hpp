#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/first_arguments.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

/// Options of Conv1DTranspose, Conv2DTranspose and Conv3DTranspose. Numbers for the spatial axes are one for all or one
/// for each.
struct ConvTransposeOptions {
  detail::Named named{};                         ///< leave it out
  std::int64_t filters = 0;                      ///< required; channels of the output, at least 1
  detail::Ints kernel_size = detail::Ints();     ///< required; sizes of the kernel, at least 1
  detail::Ints strides = 1;                      ///< step between inputs in the output, at least 1
  std::string padding = "valid";                 ///< "valid" or "same": the output is the input times strides
  detail::Ints output_padding = detail::Ints();  ///< elements added to the end of the output, less than strides; not
                                                 ///< given: determined by `padding`
  detail::Ints dilation_rate = 1;                ///< step between the kernel's taps, at least 1
  ActivationFunction activation{};               ///< name or function, applied to the output; default: linear
  bool use_bias = true;                          ///< true: adds a bias per filter
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

namespace detail {

/// Common part of Conv1DTranspose, Conv2DTranspose and Conv3DTranspose.
template <std::size_t Axes>
class MEZZO_API ConvTransposeLayer : public Layer {
 public:
  using Options = ConvTransposeOptions;
  static constexpr const char* kind = Axes == 1 ? "Conv1DTranspose" : Axes == 2 ? "Conv2DTranspose" : "Conv3DTranspose";

  /// A ValueError for a number below 1 or an output_padding that is not less than strides. A NameError for an unknown
  /// padding.
  explicit ConvTransposeLayer(Options options);
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  Options options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

extern template class ConvTransposeLayer<1>;
extern template class ConvTransposeLayer<2>;
extern template class ConvTransposeLayer<3>;

}  // namespace detail
}  // namespace mezzo
