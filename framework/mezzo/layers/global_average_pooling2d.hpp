#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct GlobalAveragePooling2DOptions {
  bool keepdims = false;  ///< true: keeps height and width as axes of size 1
  std::string name{};  ///< name of the layer; "": automatic ("global_average_pooling2d", "global_average_pooling2d_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Mean of each channel of images (Lin et al., 2013): (batch, height, width, channels) becomes (batch, channels),
/// or (batch, 1, 1, channels) with keepdims. Accumulated in at least float32. A ShapeError for inputs of another rank.
class MEZZO_API GlobalAveragePooling2D : public Layer {
 public:
  explicit GlobalAveragePooling2D(GlobalAveragePooling2DOptions options = {})
      : Layer("GlobalAveragePooling2D", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  GlobalAveragePooling2DOptions options_;
};

}  // namespace mezzo
