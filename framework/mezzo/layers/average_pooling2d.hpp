#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct AveragePooling2DOptions {
  detail::Named named{};      ///< leave it out
  Ints pool_size = 2;         ///< height and width of a window, one number for both; at least 1
  Ints strides = Ints();      ///< step between windows, one number or {height, width}; {}: pool_size
  Padding padding = "valid";  ///< "valid" (none), "same", or numbers as in torch (pixels on either side)
  std::string name{};         ///< name of the layer; "": automatic ("average_pooling2d", "average_pooling2d_1")
  Policy dtype{};             ///< precision policy; default: the policy of the enclosing layer or model
};

/// Mean of each window of images (batch, height, width, channels), accumulated in at least float32. Padding "same" is
/// left out of the mean, as in Keras. Padding by numbers counts as zeros, as in torch (count_include_pad).
class MEZZO_API AveragePooling2D : public Layer {
 public:
  /// A ValueError for a pool_size or strides below 1.
  explicit AveragePooling2D(AveragePooling2DOptions options = {});

  /// Positional: `AveragePooling2D(3)`, `AveragePooling2D({2, 3})`.
  template <class S, detail::IfOther<S, Ints> = 0>
  explicit AveragePooling2D(const S& pool_size, AveragePooling2DOptions options = {})
      : AveragePooling2D(Ints(pool_size), std::move(options)) {}
  template <class S = Ints, detail::IfSame<S, Ints> = 0>
  explicit AveragePooling2D(const S& pool_size, AveragePooling2DOptions options = {})
      : AveragePooling2D(detail::positional("AveragePooling2D", options.name, "pool_size",
                                            &AveragePooling2DOptions::pool_size, pool_size, options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  AveragePooling2DOptions options_;
};

}  // namespace mezzo
