#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `approximate`: by tanh in place of erf.
struct GELUOptions {
  bool approximate = false;
  std::string name{};
  Policy dtype{};
};

/// x times the probability of a normal variable to lie below x (Hendrycks and Gimpel, 2016), elementwise. Keras has it
/// as the activation "gelu", which is the exact one.
class GELU : public Layer {
 public:
  explicit GELU(GELUOptions options = {}) : Layer("GELU", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override { return gelu(x, options_.approximate); }

 private:
  GELUOptions options_;
};

}  // namespace mezzo
