#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct FlattenOptions {
  std::string name{};  ///< name of the layer; "": automatic ("flatten", "flatten_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Merges all axes but the first: (batch, ...) becomes (batch, elements), and (batch,) becomes (batch, 1).
class MEZZO_API Flatten : public Layer {
 public:
  explicit Flatten(const FlattenOptions& options = {}) : Layer("Flatten", options) {}

 protected:
  Value call(const Value& x) override;
};

}  // namespace mezzo
