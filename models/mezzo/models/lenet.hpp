#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/pooling/average_pooling2d.hpp>
#include <mezzo/layers/preprocessing/rescaling.hpp>
#include <mezzo/layers/reshaping/flatten.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

struct LeNetOptions {
  std::int64_t classes = 10;  ///< size of the output, at least 1
  double scale = 1.0 / 255;   ///< factor of pixels
  std::string name{};         ///< name of the model; "": automatic
  Policy dtype{};             ///< precision policy; default: the policy of the Trainer or the global one
};

/// LeNet-5 (LeCun et al., 1998, "Gradient-Based Learning Applied to Document Recognition"), with tanh and average
/// pooling: images (batch, 28, 28, channels) of any numeric dtype to logits (batch, classes). conv1 pads images to the
/// paper's 32 x 32. Unlike in the paper, poolings have no weights, conv2 reads all maps, and the output is a Dense
/// layer. 61,706 weights for one channel. Layers: conv1 (6 maps of 5x5), conv2 (16), conv3 (120), fc1 (84), fc2.
class MEZZO_API LeNet : public Model {
 public:
  /// A ValueError for classes below 1.
  explicit LeNet(LeNetOptions options = {});

 protected:
  Value call(const Value& x) override;

 private:
  LeNetOptions options_;
  Rescaling rescaling_;
  Conv2D conv1_, conv2_, conv3_;
  AveragePooling2D pool_;
  Flatten flatten_;
  Dense fc1_, fc2_;
};

}  // namespace mezzo
