#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct GlobalAveragePooling1DOptions {
  bool keepdims = false;  ///< true: keeps the steps as an axis of size 1
  std::string name{};  ///< name of the layer; "": automatic ("global_average_pooling1d", "global_average_pooling1d_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Mean over the steps of sequences: (batch, steps, features) becomes (batch, features), or (batch, 1, features) with
/// keepdims. Accumulated in at least float32. With a mask (batch, steps), the mean over the steps whose mask is true; 0
/// if there are none, where Keras returns NaN. The output has no mask. A ShapeError for inputs of another rank.
class MEZZO_API GlobalAveragePooling1D : public Layer {
 public:
  explicit GlobalAveragePooling1D(GlobalAveragePooling1DOptions options = {})
      : Layer("GlobalAveragePooling1D", options), options_(std::move(options)) {}
  bool supports_masking() const override { return true; }
  Values compute_mask(const Values&, const Values&) const override { return {}; }

 protected:
  Value call(const Value& x) override;

 private:
  GlobalAveragePooling1DOptions options_;
};

/// Keras' other name.
using GlobalAvgPool1D = GlobalAveragePooling1D;

}  // namespace mezzo
