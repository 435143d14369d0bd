#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/pooling/global_average_pooling2d.hpp>
#include <mezzo/models/feature_maps.hpp>
#include <mezzo/training/model/sequential.hpp>

namespace mezzo {

struct EfficientNetOptions {
  std::int64_t classes = 1000;      ///< size of the output, at least 1
  double width_mult = 1;            ///< factor of the numbers of channels, above 0; they are rounded to multiples of 8
  double depth_mult = 1;            ///< factor of the numbers of blocks, above 0; they are rounded up
  std::optional<double> dropout{};  ///< rate before the last layer, in [0, 1); default: 0.2, or that of the network
  double stochastic_depth_prob =
      0.2;                     ///< rate at which the last block is left out, in [0, 1); it grows from 0 linearly
  bool include_top = true;     ///< false: no classifier; the output is the last map, or as `pooling` says
  std::string pooling{};       ///< without include_top: "avg", "max": means or maxima of the last map's channels
  bool features_only = false;  ///< true: the outputs are the maps of all stages, which replace the classifier
  double norm_epsilon = 1e-5;  ///< epsilon of batch normalizations, above 0
  double norm_momentum = 0.9;  ///< momentum of moving statistics, in [0, 1]
  std::string name{};          ///< name of the model; "": automatic
  Policy dtype{};              ///< precision policy; default: the policy of the Trainer or the global one
};

/// EfficientNet (Tan and Le, 2019, arXiv 1905.11946) with torchvision's structure, names and initial values: float
/// images (batch, height, width, channels) to logits (batch, classes). Height and width are halved five times. Blocks
/// are left out sample by sample in training (stochastic depth, Huang et al., 2016, arXiv 1603.09382).
///
/// Layers: features (0: convolution; 1 to 7: stages of blocks 0, 1, ...; 8: convolution of size 1), avgpool,
/// classifier.
///
/// With features_only it has five outputs, as timm's models: of layers 1, 2, 3, 5 and 7 of features, whose height and
/// width are 1/2, 1/4, 1/8, 1/16 and 1/32 of the image's. Without a classifier load_weights() ignores that of a file.
class MEZZO_API EfficientNet : public Model {
 public:
  /// A ValueError for `classes` below 1, a factor of 0 or less, or a rate outside [0, 1).
  explicit EfficientNet(EfficientNetOptions options = {});

 protected:
  Value call(const Value& x) override;
  Values call_many(const Values& xs) override;

 private:
  std::string pooling_;
  std::optional<Sequential> features_, classifier_;
  std::optional<detail::TappedLayers> maps_;  // in place of features_
  GlobalAveragePooling2D avgpool_ = sub("avgpool", GlobalAveragePooling2D());
};

/// @name Networks of the paper
/// Used as `efficientnet_b0({.classes = 37})`. A ValueError if width_mult or depth_mult is given. Sizes of images are
/// those of the weights that torchvision offers; numbers of trained weights are for 1000 classes.
/// @{
MEZZO_API EfficientNet efficientnet_b0(EfficientNetOptions rest = {});  ///< 224 x 224, dropout 0.2, 5,288,548 weights
MEZZO_API EfficientNet efficientnet_b1(EfficientNetOptions rest = {});  ///< 240 x 240, dropout 0.2, 7,794,184 weights
MEZZO_API EfficientNet efficientnet_b2(EfficientNetOptions rest = {});  ///< 288 x 288, dropout 0.3, 9,109,994 weights
MEZZO_API EfficientNet efficientnet_b3(EfficientNetOptions rest = {});  ///< 300 x 300, dropout 0.3, 12,233,232 weights
MEZZO_API EfficientNet efficientnet_b4(EfficientNetOptions rest = {});  ///< 380 x 380, dropout 0.4, 19,341,616 weights
/// @}

}  // namespace mezzo
