#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct RMSNormalizationOptions {
  detail::Ints axis = -1;  ///< axis or axes to normalize over: -1 or {-2, -1}; negative axes count from the end
  double epsilon = 1e-6;   ///< added to the mean of the squares, at least 0
  std::string name{};      ///< name of the layer; "": automatic ("rms_normalization", "rms_normalization_1")
  Policy dtype{};          ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;   ///< false: training does not change the weights
};

/// scale x / sqrt(mean(x^2) + epsilon), with the mean over the given axes, computed in at least float32 (Zhang and
/// Sennrich, 2019). Weight: scale, with the sizes of those axes, in at least float32.
class MEZZO_API RMSNormalization : public Layer {
 public:
  /// A ValueError for an epsilon below 0 or no axis.
  explicit RMSNormalization(RMSNormalizationOptions options = {});

  /// A ShapeError for an axis that the input doesn't have, a ValueError for an axis given twice.
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  RMSNormalizationOptions options_;
  Variable scale_{"scale"};
};

}  // namespace mezzo
