#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct MaskingOptions {
  double mask_value = 0;  ///< a step whose features all equal it is masked
  std::string name{};     ///< name of the layer; "": automatic ("masking", "masking_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
};

/// Masks the steps of sequences that are padding: (batch, ..., features) keeps its shape, and has a mask (batch, ...)
/// that is false where all features equal mask_value. The features of these steps become 0. The comparison is in the
/// compute dtype. A ShapeError for inputs of rank 0.
class MEZZO_API Masking : public Layer {
 public:
  explicit Masking(const MaskingOptions& options = {}) : Layer("Masking", options), mask_value_(options.mask_value) {}

  /// Positional: `Masking(-1.0)`.
  template <class F, detail::IfNumber<F> = 0>
  explicit Masking(F mask_value, MaskingOptions options = {})
      : Masking(detail::positional("Masking", options.name, "mask_value", &MaskingOptions::mask_value,
                                   static_cast<double>(mask_value), options)) {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  double mask_value_;
};

}  // namespace mezzo
