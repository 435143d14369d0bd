#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct GELUOptions {
  bool approximate = false;  ///< true: approximates erf by tanh
  std::string name{};        ///< name of the layer; "": automatic ("gelu", "gelu_1")
  Policy dtype{};            ///< precision policy; default: the policy of the enclosing layer or model
};

/// Gaussian error linear unit, x (1 + erf(x / sqrt(2))) / 2, elementwise (Hendrycks and Gimpel, 2016). The default
/// equals Keras' activation "gelu".
class MEZZO_API GELU : public Layer {
 public:
  explicit GELU(GELUOptions options = {}) : Layer("GELU", options), options_(std::move(options)) {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override { return gelu(x, options_.approximate); }

 private:
  GELUOptions options_;
};

}  // namespace mezzo
