#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct InputOptions {
  Shape shape{};                 ///< shape of one sample, without the batch axis
  DType dtype = DType::float32;  ///< dtype of the input
  std::int64_t batch_size = -1;  ///< size of the batch axis; -1: any
  std::string name{};            ///< name in error texts, and of its field if a Model has several; "": none
};

/// Layer that returns its input. An Input becomes an InputLayer as the first element of a Sequential.
class MEZZO_API InputLayer : public Layer {
 public:
  explicit InputLayer(Value symbol);
  const Value& symbol() const { return symbol_; }

 protected:
  Value call(const Value& x) override { return x; }

 private:
  Value symbol_;
};

/// Entry of a functional graph: a symbolic Value of shape (batch_size, *shape). As the first element of a Sequential it
/// builds the layers at construction.
class MEZZO_API Input : public Value {
 public:
  explicit Input(const InputOptions& options = {});
  operator Any<Layer>() const { return InputLayer(*this); }
};

}  // namespace mezzo
