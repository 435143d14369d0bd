#include <mezzo/layers/attention/attention_core.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/axes.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/masks.hpp>
#include <mezzo/nn/weight_product.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

namespace mezzo::detail {
namespace {

/// Positions 0, 1, ... of axis 1, int64: a constant, or computed where the number is not known yet. (positions,) or
/// (batch, positions).
Value positions_of(const Value& x) {
  const std::int64_t count = x.shape()[1].or_unknown();
  if (count < 0) {
    Value ones = ones_like(x, DType::int64);
    while (ones.shape().size() > 2) ones = max(ones, {.axes = {-1}});
    return cumsum(ones, 1);
  }
  Tensor out({count}, DType::int64);
  auto* at = out.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) at[i] = i + 1;
  return reshape(out, {1, count});
}

Value heads_first(const Value& x) { return transpose(x, {0, 2, 1, 3}); }

}  // namespace

Value causal_mask(const Value& query, const Value& key) {
  return greater_equal(expand_dims(positions_of(query), -1), expand_dims(positions_of(key), -2));
}

Value window_mask(const Value& query, const Value& key, std::int64_t window) {
  return less(abs(expand_dims(positions_of(query), -1) - expand_dims(positions_of(key), -2)), window);
}

Value both_masks(const Value& a, const Value& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return logical_and(a, b);
}

Value joined_masks(const Value& query, const Value& value, const Value& key) {
  Value out;
  if (query.mask().defined()) out = expand_dims(query.mask(), -1);
  if (value.mask().defined()) out = both_masks(out, expand_dims(value.mask(), -2));
  const bool same = key.mask().defined() && value.mask().defined() && key.mask().same_as(value.mask());
  if (key.mask().defined() && !same) out = both_masks(out, expand_dims(key.mask(), -2));
  return out;
}

Value as_mask(const Value& mask) { return mask.dtype() == DType::boolean ? mask : not_equal(mask, 0); }

std::string attention_arguments(bool causal, bool with_scores) {
  return fmt::format("{{\"use_causal_mask\": {}, \"return_attention_scores\": {}}}", causal, with_scores);
}

std::pair<bool, bool> read_attention_arguments(const std::string& where, const std::string& text) {
  const Json json = parse_config(text, where);
  const bool causal = read_bool(member(json, "use_causal_mask", where), where + " use_causal_mask");
  const auto scores = json.find("return_attention_scores");
  return {causal, scores != json.end() && read_bool(*scores, where + " return_attention_scores")};
}

AttentionResult attend(const Value& query, const Value& key, const Value& value, const AttendOptions& options) {
  if (options.fused && !options.with_scores) {
    return {dot_product_attention(query, key, value,
                                  {.mask = options.mask, .is_causal = options.causal, .dropout = options.dropout}),
            {}};
  }
  const double scale = 1 / std::sqrt(static_cast<double>(query.shape().back()));
  Value mask = options.mask;
  if (options.causal) mask = both_masks(mask, expand_dims(causal_mask(query, key), 1));
  Value scores = matmul(heads_first(query * scale), heads_first(key), {.transpose_b = true});
  if (mask.defined()) scores = where(mask, scores, masked_score);
  scores = softmax(scores);
  if (mask.defined()) scores = where(mask, scores, 0.0);
  const Value kept = options.dropout > 0 ? dropout(scores, options.dropout) : scores;
  return {heads_first(matmul(kept, heads_first(value))), scores};
}

void HeadProjection::add_weights(const Shape& units) {
  const std::int64_t heads = options_.heads, size = options_.size, width = element_count(units);
  Shape kernel{heads, size};
  kernel.insert(options_.from_heads ? kernel.end() : kernel.begin(), units.begin(), units.end());
  // Files have the layout of a Linear. Only a projection with one axis of units has that layout.
  const bool linear = units.size() == 1;
  WeightOptions options{.shape = kernel,
                        .initializer = options_.kernel_initializer,
                        .regularizer = options_.kernel_regularizer,
                        .constraint = options_.kernel_constraint,
                        .file_name = "weight",
                        .quantizable = {.inputs = options_.from_heads ? Shape{0, 1} : first_axes(units.size())}};
  if (linear) {
    options.file_axes = options_.from_heads ? Shape{2, 0, 1} : Shape{1, 2, 0};
    options.file_shape = options_.from_heads ? Shape{width, heads * size} : Shape{heads * size, width};
  }
  add_weight(kernel_, options);
  const std::int64_t in = options_.from_heads ? heads * size : width, out = options_.from_heads ? width : heads * size;
  allow_adapters(kernel_, {in}, out);
  if (!options_.use_bias) return;
  const Shape features = options_.from_heads ? units : Shape{heads, size};
  add_weight(bias_, {.shape = features,
                     .initializer = options_.bias_initializer,
                     .regularizer = options_.bias_regularizer,
                     .constraint = options_.bias_constraint,
                     .file_shape = {element_count(features)}});
}

Value HeadProjection::project(const Value& x, std::int64_t out) {
  const Value y = weight_product(x, kernel_);
  return options_.use_bias ? bias_add(y, reshape(bias_, {out})) : y;
}

Values HeadProjection::call_many(const Values& xs) {
  const std::int64_t width = options_.heads * options_.size;
  if (!options_.from_heads) {
    const Shape& shape = xs[0].shape();
    if (kernel_.filled()) require_last_axis(label(), shape, kernel_.shape()[0], "first axis of kernel");
    add_weights({shape.back()});
    const Value y = with_last_axes(project(xs[0], width), 1, {options_.heads, options_.size});
    return {options_.gate ? sigmoid(y) : y};
  }
  const Shape units = options_.units.empty() ? Shape{xs.at(1).shape().back()} : options_.units;
  add_weights(units);
  const Value y = project(with_last_axes(xs[0], 2, {width}), element_count(units));
  return {units.size() == 1 ? y : with_last_axes(y, 1, units)};
}

}  // namespace mezzo::detail
