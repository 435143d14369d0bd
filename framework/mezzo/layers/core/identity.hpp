#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct IdentityOptions {
  std::string name{};  ///< name of the layer; "": automatic ("identity", "identity_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Returns its inputs, as a place holder. The initializer of that name is `initializers::Identity`.
class MEZZO_API Identity : public Layer {
 public:
  explicit Identity(const IdentityOptions& options = {}) : Layer("Identity", options) {}
  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }

 protected:
  Values call_many(const Values& xs) override { return xs; }
};

}  // namespace mezzo
