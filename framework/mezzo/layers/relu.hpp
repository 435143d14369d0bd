#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ReLUOptions {
  std::string name{};
  Policy dtype{};
};

/// max(x, 0).
class ReLU : public Layer {
 public:
  explicit ReLU(const ReLUOptions& options = {}) : Layer("ReLU", options) {}

 protected:
  Value call(const Value& x) override { return relu(x); }
};

}  // namespace mezzo
