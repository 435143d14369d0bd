#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
/// Dtype of an Input: a DType or its name, `"int32"`.
class MEZZO_API InputDType {
 public:
  InputDType(DType dtype) : dtype_(dtype) {}
  template <class S, detail::IfName<S> = 0>
  InputDType(const S& name) : dtype_(dtype_from_name(name)) {}
  operator DType() const { return dtype_; }

 private:
  DType dtype_;
};
}  // namespace detail

struct InputOptions {
  Shape shape{};                              ///< shape of one sample, without the batch axis; -1: any size
  std::int64_t batch_size = -1;               ///< size of the batch axis; -1: any
  detail::InputDType dtype = DType::float32;  ///< dtype of the input, or its name
  std::string name{};  ///< name in error texts, and of its field if a Model has several; "": none
};

/// Layer that returns its input. An Input becomes an InputLayer as the first element of a Sequential.
class MEZZO_API InputLayer : public Layer {
 public:
  explicit InputLayer(Value symbol);               ///< symbol: the Value that Input made
  const Value& symbol() const { return symbol_; }  ///< the Value that Input made

 protected:
  Value call(const Value& x) override { return x; }

 private:
  Value symbol_;
};

/// Entry of a functional graph: a symbolic Value of shape (batch_size, *shape). As the first element of a Sequential it
/// builds the layers at construction.
class MEZZO_API Input : public Value {
 public:
  explicit Input(const InputOptions& options);  // without a default: Input({}) would be ambiguous

  /// Positional: `Input({28, 28, 1})`.
  template <class S = Shape, detail::IfSame<S, Shape> = 0>
  explicit Input(const S& shape, const InputOptions& options = {})
      : Input(detail::positional("Input", options.name, "shape", &InputOptions::shape, shape, options)) {}
  operator Any<Layer>() const { return InputLayer(*this); }
};

}  // namespace mezzo
