#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `strides` {} means pool_size. `padding`: "valid", "same", or torch's numbers.
struct AveragePooling2DOptions {
  Ints pool_size = 2;
  Ints strides = Ints();
  Padding padding = "valid";
  std::string name{};
  Policy dtype{};
};

/// The mean of each window of images (batch, height, width, channels), accumulated in at least float32. Padding by
/// "same" doesn't count, as in Keras; padding by numbers counts as zeros, as torch's does (count_include_pad).
class AveragePooling2D : public Layer {
 public:
  /// A ValueError for numbers below 1.
  explicit AveragePooling2D(AveragePooling2DOptions options = {});

 protected:
  Value call(const Value& x) override;

 private:
  AveragePooling2DOptions options_;
};

}  // namespace mezzo
