#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct FlattenOptions {
  std::string name{};
  Policy dtype{};
};

/// All axes but the first as one: (batch, ...) becomes (batch, elements); (batch,) becomes (batch, 1).
class Flatten : public Layer {
 public:
  explicit Flatten(const FlattenOptions& options = {}) : Layer("Flatten", options) {}

 protected:
  Value call(const Value& x) override;
};

}  // namespace mezzo
