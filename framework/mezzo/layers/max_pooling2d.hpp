#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct MaxPooling2DOptions {
  detail::Named named{};      ///< leave it out
  Ints pool_size = 2;         ///< height and width of a window, one number for both; at least 1
  Ints strides = Ints();      ///< step between windows, one number or {height, width}; {}: pool_size
  Padding padding = "valid";  ///< "valid" (none), "same", or numbers as in torch (pixels on either side)
  std::string name{};         ///< name of the layer; "": automatic ("max_pooling2d", "max_pooling2d_1")
  Policy dtype{};             ///< precision policy; default: the policy of the enclosing layer or model
};

/// Maximum of each window of images (batch, height, width, channels). Padding counts as -infinity.
class MEZZO_API MaxPooling2D : public Layer {
 public:
  /// A ValueError for a pool_size or strides below 1.
  explicit MaxPooling2D(MaxPooling2DOptions options = {});

  /// Positional: `MaxPooling2D(3)`, `MaxPooling2D({2, 3})`.
  template <class S, detail::IfOther<S, Ints> = 0>
  explicit MaxPooling2D(const S& pool_size, MaxPooling2DOptions options = {})
      : MaxPooling2D(Ints(pool_size), std::move(options)) {}
  template <class S = Ints, detail::IfSame<S, Ints> = 0>
  explicit MaxPooling2D(const S& pool_size, MaxPooling2DOptions options = {})
      : MaxPooling2D(detail::positional("MaxPooling2D", options.name, "pool_size", &MaxPooling2DOptions::pool_size,
                                        pool_size, options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  MaxPooling2DOptions options_;
};

}  // namespace mezzo
