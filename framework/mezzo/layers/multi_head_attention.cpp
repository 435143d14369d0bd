#include <mezzo/layers/multi_head_attention.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

namespace mezzo {
namespace {

struct HeadProjectionOptions {
  bool from_heads = false;  ///< true: (..., heads, size) to (..., units); false: (..., units) to (..., heads, size)
  std::int64_t heads = 1;   ///< number of heads
  std::int64_t size = 1;    ///< size of a head
  std::int64_t units = 0;   ///< last size of the output, with from_heads; 0: the last size of the second input
  bool use_bias = true;     ///< true: adds a bias
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

void HeadProjection::add_weights(std::int64_t units) {
  const std::int64_t heads = options_.heads, size = options_.size;
  const Shape features = options_.from_heads ? Shape{units} : Shape{heads, size};
  add_weight(kernel_, {.shape = options_.from_heads ? Shape{heads, size, units} : Shape{units, heads, size},
                       .initializer = options_.kernel_initializer,
                       .regularizer = options_.kernel_regularizer,
                       .constraint = options_.kernel_constraint,
                       .file_name = "weight",
                       .file_axes = options_.from_heads ? Shape{2, 0, 1} : Shape{1, 2, 0},
                       .file_shape = options_.from_heads ? Shape{units, heads * size} : Shape{heads * size, units}});
  if (!options_.use_bias) return;
  add_weight(bias_, {.shape = features,
                     .initializer = options_.bias_initializer,
                     .regularizer = options_.bias_regularizer,
                     .constraint = options_.bias_constraint,
                     .file_shape = {element_count(features)}});
}

Value HeadProjection::project(const Value& x, std::int64_t out) {
  const Value y = matmul(x, reshape(kernel_, {x.shape().back(), out}));
  return options_.use_bias ? bias_add(y, reshape(bias_, {out})) : y;
}

Values HeadProjection::call_many(const Values& xs) {
  const std::int64_t width = options_.heads * options_.size;
  Shape shape = xs[0].shape();
  if (!options_.from_heads) {
    if (kernel_.filled()) detail::require_last_axis(label(), shape, kernel_.shape()[0], "first axis of kernel");
    add_weights(shape.back());
    shape.back() = options_.heads;
    shape.push_back(options_.size);
    return {reshape(project(xs[0], width), shape)};
  }
  const std::int64_t units = options_.units > 0 ? options_.units : xs.at(1).shape().back();
  add_weights(units);
  shape.pop_back();
  shape.back() = width;
  return {project(reshape(xs[0], shape), units)};
}

HeadProjection projection(const MultiHeadAttentionOptions& options, bool from_heads, std::int64_t size) {
  return HeadProjection({.from_heads = from_heads,
                         .heads = options.num_heads,
                         .size = size,
                         .units = options.output_shape,
                         .use_bias = options.use_bias,
                         .kernel_initializer = options.kernel_initializer,
                         .bias_initializer = options.bias_initializer,
                         .kernel_regularizer = options.kernel_regularizer,
                         .bias_regularizer = options.bias_regularizer,
                         .activity_regularizer = options.activity_regularizer,
                         .kernel_constraint = options.kernel_constraint,
                         .bias_constraint = options.bias_constraint});
}

/// Inserts an axis for heads: (batch, queries, keys) becomes (batch, 1, queries, keys).
Value over_heads(const Value& mask) {
  Shape shape = mask.shape();
  if (shape.size() != 3) return mask;
  shape.insert(shape.begin() + 1, 1);
  return reshape(mask, shape);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(MultiHeadAttentionOptions options)
    : Layer("MultiHeadAttention", options), options_(std::move(options)) {
  state()->activity_regularizer = {};  // the projections have it
  detail::require_positive(label(), "num_heads", options_.num_heads);
  detail::require_positive(label(), "key_dim", options_.key_dim);
  if (options_.value_dim == 0) options_.value_dim = options_.key_dim;
  detail::require_positive(label(), "value_dim", options_.value_dim);
  if (options_.output_shape != 0) detail::require_positive(label(), "output_shape", options_.output_shape);
  if (!(options_.dropout >= 0 && options_.dropout < 1)) {
    fail<ValueError>(label(), "dropout must lie in [0, 1); got {}", options_.dropout);
  }
  query_ = sub("query", projection(options_, false, options_.key_dim));
  key_ = sub("key", projection(options_, false, options_.key_dim));
  value_ = sub("value", projection(options_, false, options_.value_dim));
  output_ = sub("attention_output", projection(options_, true, options_.value_dim));
}

Value MultiHeadAttention::operator()(const Value& query, const Value& value, const AttentionCallOptions& options) {
  const ScopedValue<AttentionCallOptions> call(call_, options);
  Values xs{query, value, options.key.defined() ? options.key : value};
  if (options.attention_mask.defined()) xs.push_back(options.attention_mask);
  return Layer::operator()(xs, {.training = options.training}).front();
}

std::string MultiHeadAttention::call_arguments() const {
  return fmt::format("{{\"use_causal_mask\": {}}}", call_.use_causal_mask);
}

Values MultiHeadAttention::call_many(const Values& xs) {
  if (xs.size() < 2 || xs.size() > 4) {
    fail<ValueError>(label(), "takes 2 to 4 inputs (query, value, key, attention_mask); got {}", xs.size());
  }
  for (std::size_t i = 0; i < 3 && i < xs.size(); ++i) {
    detail::require_rank(label(), xs[i].shape(), 3, "(batch, positions, size)");
  }
  const AttentionOptions options{.mask = xs.size() > 3 ? over_heads(xs[3]) : Value(),
                                 .is_causal = call_.use_causal_mask,
                                 .dropout = options_.dropout};
  const Value query = (*query_)(xs[0]), key = (*key_)(xs.size() > 2 ? xs[2] : xs[1]), value = (*value_)(xs[1]);
  return (*output_)(Values{dot_product_attention(query, key, value, options), xs[0]});
}

}  // namespace mezzo
