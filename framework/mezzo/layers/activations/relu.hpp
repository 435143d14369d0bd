#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ReLUOptions {
  std::optional<double> max_value{};  ///< upper limit of the output, at least 0; default: none
  double negative_slope = 0;          ///< slope below the threshold, at least 0
  double threshold = 0;               ///< numbers up to it are not passed, at least 0
  std::string name{};                 ///< name of the layer; "": automatic ("re_lu", "re_lu_1")
  Policy dtype{};                     ///< precision policy; default: the policy of the enclosing layer or model
};

/// Rectified linear unit, elementwise: min(x, max_value) above the threshold, else negative_slope (x - threshold). The
/// default is max(x, 0).
class MEZZO_API ReLU : public Layer {
 public:
  /// A ValueError for a negative number.
  explicit ReLU(ReLUOptions options = {});

  /// Positional: `ReLU(6)`, `ReLU(6, 0.1)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit ReLU(N max_value, ReLUOptions options = {})
      : ReLU(detail::positional("ReLU", options.name, "max_value", &ReLUOptions::max_value,
                                std::optional<double>(static_cast<double>(max_value)), options)) {}
  template <class N, class M, detail::IfNumber<N> = 0, detail::IfNumber<M> = 0>
  explicit ReLU(N max_value, M negative_slope, ReLUOptions options = {})
      : ReLU(max_value, detail::positional("ReLU", options.name, "negative_slope", &ReLUOptions::negative_slope,
                                           static_cast<double>(negative_slope), options)) {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  ReLUOptions options_;
};

}  // namespace mezzo
