#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `axis`: along which the outputs sum to 1.
struct SoftmaxOptions {
  std::int64_t axis = -1;
  std::string name{};
  Policy dtype{};
};

/// exp(x) divided by its sum along an axis, computed in at least float32. A ShapeError for inputs without that axis.
class Softmax : public Layer {
 public:
  explicit Softmax(SoftmaxOptions options = {}) : Layer("Softmax", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override { return softmax(x, options_.axis); }

 private:
  SoftmaxOptions options_;
};

}  // namespace mezzo
