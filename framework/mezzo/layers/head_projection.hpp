#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

struct HeadProjectionOptions {
  bool from_heads = false;  ///< true: (..., heads, size) to (..., units); false: (..., units) to (..., heads, size)
  std::int64_t heads = 1;   ///< number of heads
  std::int64_t size = 1;    ///< size of a head
  std::int64_t units = 0;   ///< last size of the output, with from_heads; 0: the last size of the second input
  bool use_bias = true;     ///< true: adds a bias
  Any<Initializer> kernel_initializer{};  ///< required; initial kernel
  Any<Initializer> bias_initializer{};    ///< required with use_bias; initial bias
  std::string name{};                     ///< name of the layer; "": automatic ("einsum_dense", "einsum_dense_1")
  Policy dtype{};                         ///< precision policy; default: the policy of the enclosing layer or model
};

/// Dense layer whose input or output is split into heads, as Keras' EinsumDense in MultiHeadAttention. Weights: kernel
/// (units, heads, size) or (heads, size, units), bias (heads, size) or (units,).
class HeadProjection : public Layer {
 public:
  explicit HeadProjection(HeadProjectionOptions options)
      : Layer("EinsumDense", options), options_(std::move(options)) {}
  void build(const Shape&) override {}  // weights are made by the first call, where the second input is known

 protected:
  Values call_many(const Values& xs) override;

 private:
  void add_weights(std::int64_t units);
  Value project(const Value& x, std::int64_t out);

  HeadProjectionOptions options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

}  // namespace mezzo::detail
