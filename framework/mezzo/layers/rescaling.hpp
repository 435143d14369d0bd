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
  explicit Rescaling(RescalingOptions options = {}) : Layer("Rescaling", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  RescalingOptions options_;
};

}  // namespace mezzo
