#pragma once
#include <optional>

#include <mezzo/layers/attention/attention.hpp>
#include <mezzo/nn/constraint.hpp>
#include <mezzo/nn/initializer.hpp>

// Parts that attention layers share.
namespace mezzo::detail {

/// Mask (1, queries, keys), true where key j <= query i. Axis 1 of both has the positions.
Value causal_mask(const Value& query, const Value& key);

/// Mask (1, queries, keys), true where |i - j| < window.
Value window_mask(const Value& query, const Value& key, std::int64_t window);

/// Both masks, or the defined one.
Value both_masks(const Value& a, const Value& b);

/// Mask (batch, query positions, key positions) of the masks of query, value and key; undefined if they have none.
Value joined_masks(const Value& query, const Value& value, const Value& key);

/// The mask as bool: numbers are compared with 0.
Value as_mask(const Value& mask);

/// Converts call options to the text `{"use_causal_mask": false, "return_attention_scores": false}` and back. A
/// ValueError for another text.
std::string attention_arguments(bool causal, bool with_scores);
std::pair<bool, bool> read_attention_arguments(const std::string& where, const std::string& text);

struct AttendOptions {
  Value mask{};  ///< bool, broadcasts to (batch, heads, queries, keys)
  bool causal = false;
  double dropout = 0;
  bool with_scores = false;  ///< true: computes the scores, which the fused op doesn't keep
  bool fused = true;         ///< false: in products and softmax
};

/// Scaled dot-product attention of (batch, positions, heads, size). The output of queries without a key is 0. Scores
/// are (batch, heads, queries, keys), undefined without with_scores.
AttentionResult attend(const Value& query, const Value& key, const Value& value, const AttendOptions& options);

struct HeadProjectionOptions {
  bool from_heads = false;  ///< true: (..., heads, size) to (..., units); false: (..., units) to (..., heads, size)
  std::int64_t heads = 1;   ///< number of heads
  std::int64_t size = 1;    ///< size of a head
  Shape units{};            ///< last axes of the output, with from_heads; {}: the last axis of the second input
  bool use_bias = true;     ///< true: adds a bias
  bool gate = false;        ///< true: applies a sigmoid
  Any<Initializer> kernel_initializer{};    ///< required; initial kernel
  Any<Initializer> bias_initializer{};      ///< required with use_bias; initial bias
  Any<Regularizer> kernel_regularizer{};    ///< penalty of the kernel
  Any<Regularizer> bias_regularizer{};      ///< penalty of the bias
  Any<Regularizer> activity_regularizer{};  ///< penalty of the output
  Any<Constraint> kernel_constraint{};      ///< projects the kernel after each update
  Any<Constraint> bias_constraint{};        ///< projects the bias after each update
  std::string name{};                       ///< name of the layer; "": automatic ("einsum_dense", "einsum_dense_1")
  Policy dtype{};                           ///< precision policy; default: the policy of the enclosing layer or model
};

/// Projection of an attention layer with these options.
template <class Options>
HeadProjectionOptions projection_options(const Options& options, std::int64_t heads, std::int64_t size) {
  HeadProjectionOptions out;
  out.heads = heads;
  out.size = size;
  out.use_bias = options.use_bias;
  out.kernel_initializer = options.kernel_initializer;
  out.bias_initializer = options.bias_initializer;
  out.kernel_regularizer = options.kernel_regularizer;
  out.bias_regularizer = options.bias_regularizer;
  out.activity_regularizer = options.activity_regularizer;
  out.kernel_constraint = options.kernel_constraint;
  out.bias_constraint = options.bias_constraint;
  return out;
}

/// Dense layer whose input or output is split into heads, as Keras' EinsumDense in MultiHeadAttention. Weights: kernel
/// (units, heads, size) or (heads, size, units...), bias (heads, size) or (units...).
class HeadProjection : public Layer {
 public:
  explicit HeadProjection(HeadProjectionOptions options)
      : Layer("EinsumDense", options), options_(std::move(options)) {}
  void build(const Shape&) override {}  // weights are made by the first call, where the second input is known

 protected:
  Values call_many(const Values& xs) override;

 private:
  void add_weights(const Shape& units);
  Value project(const Value& x, std::int64_t out);

  HeadProjectionOptions options_;
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

}  // namespace mezzo::detail
