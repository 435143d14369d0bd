#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct LeakyReLUOptions {
  double negative_slope = 0.3;  ///< slope below 0, at least 0
  std::string name{};           ///< name of the layer; "": automatic ("leaky_re_lu", "leaky_re_lu_1")
  Policy dtype{};               ///< precision policy; default: the policy of the enclosing layer or model
};

/// Leaky rectified linear unit, elementwise: x above 0, else negative_slope x.
class MEZZO_API LeakyReLU : public Layer {
 public:
  /// A ValueError for a negative slope.
  explicit LeakyReLU(LeakyReLUOptions options = {});

  /// Positional: `LeakyReLU(0.2)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit LeakyReLU(N negative_slope, LeakyReLUOptions options = {})
      : LeakyReLU(detail::positional("LeakyReLU", options.name, "negative_slope", &LeakyReLUOptions::negative_slope,
                                     static_cast<double>(negative_slope), options)) {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override { return leaky_relu(x, options_.negative_slope); }

 private:
  LeakyReLUOptions options_;
};

}  // namespace mezzo
