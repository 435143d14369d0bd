#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ReLUOptions {
  std::string name{};  ///< name of the layer; "": automatic ("re_lu", "re_lu_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// max(x, 0), elementwise.
class MEZZO_API ReLU : public Layer {
 public:
  explicit ReLU(const ReLUOptions& options = {}) : Layer("ReLU", options) {}

 protected:
  Value call(const Value& x) override { return relu(x); }
};

}  // namespace mezzo
