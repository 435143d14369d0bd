#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct RescalingOptions {
  double scale = 1;
  double offset = 0;
  std::string name{};
  Policy dtype{};
};

/// x * scale + offset: `Rescaling({.scale = 1.0 / 255})` brings bytes of images to [0, 1].
class Rescaling : public Layer {
 public:
  explicit Rescaling(RescalingOptions options = {}) : Layer("Rescaling", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  RescalingOptions options_;
};

}  // namespace mezzo
