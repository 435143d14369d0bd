#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `strides` {} means pool_size. `padding`: "valid", "same", or torch's numbers.
struct MaxPooling2DOptions {
  Ints pool_size = 2;
  Ints strides = Ints();
  Padding padding = "valid";
  std::string name{};
  Policy dtype{};
};

/// The largest of each window of images (batch, height, width, channels); padding counts as -infinity.
class MaxPooling2D : public Layer {
 public:
  /// A ValueError for numbers below 1.
  explicit MaxPooling2D(MaxPooling2DOptions options = {});

 protected:
  Value call(const Value& x) override;

 private:
  MaxPooling2DOptions options_;
};

}  // namespace mezzo
