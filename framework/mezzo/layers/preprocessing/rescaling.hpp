#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct RescalingOptions {
  double scale = 1;    ///< factor
  double offset = 0;   ///< added after scaling
  std::string name{};  ///< name of the layer; "": automatic ("rescaling", "rescaling_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// x * scale + offset. `Rescaling({.scale = 1.0 / 255})` maps bytes of images to [0, 1].
class MEZZO_API Rescaling : public Layer {
 public:
  /// A ValueError unless scale and offset are finite.
  explicit Rescaling(RescalingOptions options = {});

  /// Positional: `Rescaling(1.0 / 255)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit Rescaling(N scale, RescalingOptions options = {})
      : Rescaling(detail::positional("Rescaling", options.name, "scale", &RescalingOptions::scale,
                                     static_cast<double>(scale), options)) {}
  template <class N, class M, detail::IfNumber<N> = 0, detail::IfNumber<M> = 0>
  explicit Rescaling(N scale, M offset, RescalingOptions options = {})
      : Rescaling(scale, detail::positional("Rescaling", options.name, "offset", &RescalingOptions::offset,
                                            static_cast<double>(offset), options)) {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  RescalingOptions options_;
};

}  // namespace mezzo
