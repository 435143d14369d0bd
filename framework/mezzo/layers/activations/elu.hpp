#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ELUOptions {
  double alpha = 1;    ///< limit of the output for large negative numbers, with the sign changed
  std::string name{};  ///< name of the layer; "": automatic ("elu", "elu_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Exponential linear unit, elementwise: x above 0, else alpha (exp(x) - 1) (Clevert et al., 2016).
class MEZZO_API ELU : public Layer {
 public:
  explicit ELU(ELUOptions options = {}) : Layer("ELU", options), options_(std::move(options)) {}

  /// Positional: `ELU(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit ELU(N alpha, ELUOptions options = {})
      : ELU(detail::positional("ELU", options.name, "alpha", &ELUOptions::alpha, static_cast<double>(alpha), options)) {
  }
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override { return elu(x, options_.alpha); }

 private:
  ELUOptions options_;
};

}  // namespace mezzo
