#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/first_arguments.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/activation.hpp>

namespace mezzo {

/// Options of Conv1D and Conv3D. `strides`, `kernel_size` and `dilation_rate` are one number for all spatial axes or
/// one for each.
struct ConvOptions {
  detail::Named named{};                      ///< leave it out
  std::int64_t filters = 0;                   ///< required; channels of the output, at least 1 and a multiple of groups
  detail::Ints kernel_size = detail::Ints();  ///< required; sizes of the kernel, at least 1
  detail::Ints strides = 1;                   ///< step between outputs, at least 1
  std::string padding = "valid";   ///< "valid" (none), "same", or, of Conv1D, "causal": all of it before the first step
  detail::Ints dilation_rate = 1;  ///< step between the kernel's taps, at least 1
  std::int64_t groups = 1;         ///< number of groups of channels that do not mix; divides input and output channels
  ActivationFunction activation{};                         ///< name or function, applied to the output; default: linear
  bool use_bias = true;                                    ///< true: adds a bias per filter
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias, added to the loss
  Any<Regularizer> activity_regularizer{};                 ///< penalty of the output, divided by the batch size
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> bias_constraint{};                       ///< projects the bias after each update
  std::string name{};                                      ///< name of the layer; "": automatic ("conv1d", "conv1d_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

struct Conv2DOptions;

namespace detail {

/// Common part of Conv1D, Conv2D and Conv3D.
template <std::size_t Axes>
class MEZZO_API ConvLayer : public Layer {
 public:
  using Options = std::conditional_t<Axes == 2, Conv2DOptions, ConvOptions>;
  static constexpr const char* kind = Axes == 1 ? "Conv1D" : Axes == 2 ? "Conv2D" : "Conv3D";

  /// A ValueError for a number below 1, or if groups doesn't divide filters. A NameError for an unknown padding.
  explicit ConvLayer(Options options);
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  Options options_;
  std::int64_t channels_ = 0;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

extern template class ConvLayer<1>;
extern template class ConvLayer<3>;

}  // namespace detail
}  // namespace mezzo
