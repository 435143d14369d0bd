#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/normalization/batch_normalization.hpp>
#include <mezzo/ops/activation.hpp>
#include <mezzo/training/model/sequential.hpp>

// Parts that the convolutional networks with torchvision's structure share. Constants are torch's: batch normalization
// has epsilon 1e-5 and momentum 0.9, paddings are symmetric.
namespace mezzo::detail {

struct ConvNormOptions {
  std::int64_t filters = 0;         ///< channels of the output
  std::int64_t kernel_size = 3;     ///< height and width of the kernel, odd
  std::int64_t strides = 1;         ///< step between outputs
  std::int64_t groups = 1;          ///< groups of channels that do not mix
  ActivationFunction activation{};  ///< after the normalization; default: none
  double epsilon = 1e-5;            ///< epsilon of the normalization
  double momentum = 0.9;            ///< momentum of the moving statistics
  bool same_padding = false;        ///< true: pads as TensorFlow, more at the end if strides skip pixels
};

/// Convolution with kaiming_normal_(mode="fan_out")'s initial kernel. With stride 1 it keeps height and width.
Conv2D convolution(const ConvNormOptions& options, bool use_bias = false, const std::string& name = "");

/// torchvision's Conv2dNormActivation: layers 0 (convolution), 1 (normalization) and, with an activation, 2.
Sequential conv_norm(const ConvNormOptions& options, const std::string& name = "");

/// Layers named 0, 1, 2, ... as in torch's Sequential.
class NumberedLayers {
 public:
  /// Name of the next layer.
  std::string name() const;
  void add(Any<Layer> layer) { layers_.push_back(std::move(layer)); }
  Sequential sequential(const std::string& name = "") { return Sequential(std::move(layers_), {.name = name}); }

 private:
  std::vector<Any<Layer>> layers_;
};

/// Rounds to a multiple of 8 that is at least 8 and at least 0.9 * channels (Howard et al., 2017; torchvision's
/// _make_divisible).
std::int64_t rounded_channels(double channels);

}  // namespace mezzo::detail
