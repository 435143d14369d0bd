#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/activations/relu.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/normalization/batch_normalization.hpp>
#include <mezzo/layers/pooling/global_average_pooling2d.hpp>
#include <mezzo/layers/pooling/max_pooling2d.hpp>
#include <mezzo/training/model/sequential.hpp>

namespace mezzo {

struct ResNetOptions {
  std::int64_t classes = 1000;  ///< size of the output, at least 1
  std::int64_t stem = 64;       ///< channels of the first convolution, at least 1
  /// Channels of the 3x3 convolutions in each stage, at least 1.
  std::array<std::int64_t, 4> filters{64, 128, 256, 512};
  bool zero_init_residual = false;  ///< true: the last gamma of each block starts at 0 (Goyal et al., 2017)
  bool include_top = true;          ///< false: no classifier; the output is the last map, or as `pooling` says
  std::string pooling{};            ///< without include_top: "avg", "max": means or maxima of the last map's channels
  bool features_only = false;       ///< true: the outputs are the maps of all stages, which replace the classifier
  std::string name{};               ///< name of the model; "": automatic
  Policy dtype{};                   ///< precision policy; default: the policy of the Trainer or the global one
};

/// Residual network (He et al., 2015, arXiv 1512.03385) with torchvision's structure, names and initial values: float
/// images (batch, height, width, channels) to logits (batch, classes). Height and width are halved five times; the
/// paper uses 224. Constants are torch's: batch normalization has epsilon 1e-5 and momentum 0.9, paddings are
/// symmetric. Layers: conv1, bn1, relu, maxpool, layer1 to layer4 (of blocks 0, 1, ...: conv1, bn1, ..., downsample/0,
/// downsample/1), avgpool, fc.
///
/// With features_only it has five outputs, as timm's models: relu and layer1 to layer4, whose height and width are 1/2,
/// 1/4, 1/8, 1/16 and 1/32 of the image's. Without a classifier load_weights() ignores that of a file.
class MEZZO_API ResNet : public Model {
 public:
  /// `basic`: two 3x3 convolutions. `bottleneck`: 1x1, 3x3, 1x1 convolutions with four times the channels in the
  /// output; the 3x3 one has the stride (torchvision's v1.5), not the first 1x1 one as in the paper.
  enum class Block { basic, bottleneck };

  /// `layers`: numbers of blocks in the four stages. A ValueError for a number below 1.
  ResNet(Block block, const std::array<std::int64_t, 4>& layers, ResNetOptions options = {});

  /// Arguments of the constructor.
  Block block() const { return block_; }
  const std::array<std::int64_t, 4>& layers() const { return layers_; }
  const ResNetOptions& options() const { return options_; }

 protected:
  Value call(const Value& x) override;
  Values call_many(const Values& xs) override;

 private:
  Sequential stage(std::size_t index) const;
  Dense output_layer();
  /// Maps after the first ReLU and after each stage.
  Values maps(const Value& x);

  Block block_;
  std::array<std::int64_t, 4> layers_;
  ResNetOptions options_;
  Conv2D conv1_;
  BatchNormalization bn1_;
  ReLU relu_ = sub("relu", ReLU());
  MaxPooling2D maxpool_;
  Sequential layer1_ = sub("layer1", stage(0));
  Sequential layer2_ = sub("layer2", stage(1));
  Sequential layer3_ = sub("layer3", stage(2));
  Sequential layer4_ = sub("layer4", stage(3));
  GlobalAveragePooling2D avgpool_ = sub("avgpool", GlobalAveragePooling2D());
  std::optional<Dense> fc_;
};

/// @name Networks of the paper
/// Used as `resnet18({.classes = 37})`. Numbers of trained weights are for images of three channels and 1000 classes.
/// @{
MEZZO_API ResNet resnet18(const ResNetOptions& options = {});  ///< 2, 2, 2, 2 basic blocks: 11,689,512 weights
MEZZO_API ResNet resnet34(const ResNetOptions& options = {});  ///< 3, 4, 6, 3 basic blocks: 21,797,672 weights
MEZZO_API ResNet resnet50(const ResNetOptions& options = {});  ///< 3, 4, 6, 3 bottlenecks: 25,557,032 weights
/// @}

}  // namespace mezzo
