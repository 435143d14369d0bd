#pragma once
#include <string>

#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `shape` is that of one sample; `batch_size` -1 leaves the batch open.
struct InputOptions {
  Shape shape{};
  DType dtype = DType::float32;
  std::int64_t batch_size = -1;
  std::string name{};
};

/// Passes its input; what an Input becomes as the first element of a Sequential.
class InputLayer : public Layer {
 public:
  explicit InputLayer(Value symbol);
  const Value& symbol() const { return symbol_; }

 protected:
  Value call(const Value& x) override { return x; }

 private:
  Value symbol_;
};

/// Where a functional graph begins: a symbolic Value of shape (batch_size, *shape). Also the first element of a
/// Sequential, which is then built at once.
class Input : public Value {
 public:
  explicit Input(const InputOptions& options = {});
  operator Any<Layer>() const { return InputLayer(*this); }
};

}  // namespace mezzo
