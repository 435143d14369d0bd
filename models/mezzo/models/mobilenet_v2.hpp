#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/pooling/global_average_pooling2d.hpp>
#include <mezzo/models/feature_maps.hpp>
#include <mezzo/training/model/sequential.hpp>

namespace mezzo {

struct MobileNetV2Options {
  std::int64_t classes = 1000;  ///< size of the output, at least 1
  double width_mult = 1;        ///< factor of the numbers of channels, above 0; they are rounded to multiples of 8
  double dropout = 0.2;         ///< dropout rate before the last layer, in [0, 1)
  double epsilon = 1e-5;        ///< epsilon of batch normalizations, at least 0
  bool include_top = true;      ///< false: no classifier; the output is the last map, or as `pooling` says
  std::string pooling{};        ///< without include_top: "avg", "max": means or maxima of the last map's channels
  bool features_only = false;   ///< true: the outputs are the maps of all stages, which replace the classifier
  bool tf_padding = false;      ///< true: pads as TensorFlow, more at the bottom and right if strides skip pixels
  std::string name{};           ///< name of the model; "": automatic
  Policy dtype{};               ///< precision policy; default: the policy of the Trainer or the global one
};

/// MobileNetV2 (Sandler et al., 2018, arXiv 1801.04381) with torchvision's structure, names and initial values: float
/// images (batch, height, width, channels) to logits (batch, classes). Height and width are halved five times; the
/// paper uses 224. Numbers of trained weights are 3,504,872 for images of three channels and 1000 classes.
///
/// Layers: features (0: convolution; 1 to 17: inverted residuals; 18: convolution of size 1), avgpool, classifier.
///
/// With features_only it has five outputs, as timm's models: of layers 1, 3, 6, 13 and 17 of features, whose height and
/// width are 1/2, 1/4, 1/8, 1/16 and 1/32 of the image's. Without a classifier load_weights() ignores that of a file.
class MEZZO_API MobileNetV2 : public Model {
 public:
  /// A ValueError for `classes` below 1, a width_mult of 0 or less, or a dropout outside [0, 1).
  explicit MobileNetV2(MobileNetV2Options options = {});

  /// Options given to the constructor.
  const MobileNetV2Options& options() const { return options_; }

 protected:
  Value call(const Value& x) override;
  Values call_many(const Values& xs) override;

 private:
  MobileNetV2Options options_;
  std::optional<Sequential> features_, classifier_;
  std::optional<detail::TappedLayers> maps_;  // in place of features_
  GlobalAveragePooling2D avgpool_ = sub("avgpool", GlobalAveragePooling2D());
};

}  // namespace mezzo
