#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct UnitNormalizationOptions {
  detail::Ints axis = -1;  ///< axis or axes to normalize over: -1 or {-2, -1}; negative axes count from the end
  std::string name{};      ///< name of the layer; "": automatic ("unit_normalization", "unit_normalization_1")
  Policy dtype{};          ///< precision policy; default: the policy of the enclosing layer or model
};

/// x divided by its L2 norm over the given axes, or by 1e-12 if the norm is smaller, computed in at least float32. A
/// ShapeError for an axis that the input doesn't have, a ValueError for an axis given twice.
class MEZZO_API UnitNormalization : public Layer {
 public:
  /// A ValueError for no axis.
  explicit UnitNormalization(UnitNormalizationOptions options = {});
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  UnitNormalizationOptions options_;
};

}  // namespace mezzo
