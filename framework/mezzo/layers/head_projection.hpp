#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

struct HeadProjectionOptions {
  bool from_heads = false;  ///< (..., heads, size) to (..., units); otherwise (..., units) to (..., heads, size)
  std::int64_t heads = 1;
  std::int64_t size = 1;   ///< of a head
  std::int64_t units = 0;  ///< of the output, with from_heads; 0: that of a second input
  bool use_bias = true;
  Any<Initializer> kernel_initializer{};
  Any<Initializer> bias_initializer{};
  std::string name{};
  Policy dtype{};
};

/// A Dense whose input or output is split into heads, as Keras' EinsumDense in MultiHeadAttention: kernel (units,
/// heads, size) or (heads, size, units).
class HeadProjection : public Layer {
 public:
  explicit HeadProjection(HeadProjectionOptions options)
      : Layer("EinsumDense", options), options_(std::move(options)) {}
  void build(const Shape&) override {}  // at each call, which knows the second input

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
