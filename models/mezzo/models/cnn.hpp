#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/pooling/max_pooling2d.hpp>
#include <mezzo/layers/preprocessing/rescaling.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/layers/reshaping/flatten.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

struct CNNOptions {
  std::int64_t classes = 10;  ///< size of the output, at least 1
  double scale = 1.0 / 255;   ///< factor of pixels
  double dropout = 0.5;       ///< dropout rate before the dense layer, in [0, 1)
  std::string name{};         ///< name of the model; "": automatic
  Policy dtype{};             ///< precision policy; default: the policy of the Trainer or the global one
};

/// Two convolutions for small images, after Keras' "Simple MNIST convnet": 3x3x32, pool, 3x3x64, pool, dropout, dense.
/// Images (batch, height, width, channels) of any numeric dtype to logits (batch, classes). 34,826 weights for images
/// of 28 x 28 x 1.
class MEZZO_API CNN : public Model {
 public:
  /// A ValueError for classes below 1, or a dropout outside of [0, 1).
  explicit CNN(CNNOptions options = {});

 protected:
  Value call(const Value& x) override;

 private:
  CNNOptions options_;
  Rescaling rescaling_;
  Conv2D conv1_;
  MaxPooling2D pool_ = sub("pool", MaxPooling2D());
  Conv2D conv2_;
  Flatten flatten_ = sub("flatten", Flatten());
  Dropout dropout_;
  Dense fc_;
};

}  // namespace mezzo
