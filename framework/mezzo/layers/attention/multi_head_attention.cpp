#include <mezzo/layers/attention/multi_head_attention.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/attention/attention_core.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

/// Axes of inputs with several axes of positions: `order` puts the axes along which no attention runs behind the batch.
struct PositionAxes {
  Shape free{}, along{};
};

PositionAxes position_axes(const std::string& where, const detail::Ints& given, std::size_t rank) {
  PositionAxes out;
  for (const std::int64_t axis : given.numbers()) {
    const std::int64_t place = detail::normalize_axis(axis, rank, where);
    const bool twice = std::find(out.along.begin(), out.along.end(), place) != out.along.end();
    if (place == 0 || place + 1 == static_cast<std::int64_t>(rank) || twice) {
      fail<ValueError>(where,
                       "attention_axes must be different axes between the batch and the last one, 1 to {}; got ({})",
                       rank - 2, fmt::join(given.numbers(), ", "));
    }
    out.along.push_back(place);
  }
  for (std::int64_t i = 1; i + 1 < static_cast<std::int64_t>(rank); ++i) {
    if (given.empty()) {
      out.along.push_back(i);
    } else if (std::find(out.along.begin(), out.along.end(), i) == out.along.end()) {
      out.free.push_back(i);
    }
  }
  return out;
}

Shape sizes_along(const Shape& shape, const Shape& axes) {
  Shape out;
  for (const std::int64_t axis : axes) out.push_back(shape[static_cast<std::size_t>(axis)]);
  return out;
}

Shape joined_shapes(std::initializer_list<Shape> parts) {
  Shape out;
  for (const Shape& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

/// Number of elements, or -1 if a size is unknown.
std::int64_t known_count(const Shape& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n < 0; }) ? -1 : element_count(sizes);
}

/// (batch, positions..., heads, size) as (batch and free axes, positions, heads, size).
Value flattened_heads(const std::string& where, const Value& x, const PositionAxes& axes) {
  const auto rank = static_cast<std::int64_t>(x.shape().size());
  const Shape &shape = x.shape(), along = sizes_along(shape, axes.along);
  if (known_count(along) < 0) {
    fail<ShapeError>(where, "attention over several axes needs known sizes; got shape {} of projected heads", shape);
  }
  const Value moved = transpose(x, joined_shapes({{0}, axes.free, axes.along, {rank - 2, rank - 1}}));
  const Shape lead = joined_shapes({{shape[0]}, sizes_along(shape, axes.free)});
  return reshape(moved, {known_count(lead), element_count(along), shape[shape.size() - 2], shape.back()});
}

/// Inverse of flattened_heads(), for results with that many heads and that size. `like`: the projected query.
Value restored_heads(const Value& y, const Value& like, const PositionAxes& axes) {
  const Shape& shape = like.shape();
  const auto rank = static_cast<std::int64_t>(shape.size());
  const Shape heads{y.shape()[2], y.shape()[3]};
  const Value whole =
      reshape(y, joined_shapes({{shape[0]}, sizes_along(shape, axes.free), sizes_along(shape, axes.along), heads}));
  const Shape order = joined_shapes({{0}, axes.free, axes.along, {rank - 2, rank - 1}});
  Shape back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return transpose(whole, back);
}

/// Inserts axes of size 1 for missing axes of a mask (batch, free axes, heads, query axes, key axes), in front of the
/// query axes, as Keras does.
Value over_heads(const std::string& where, const Value& mask, const PositionAxes& axes) {
  const std::size_t positions = 2 * axes.along.size(), rank = 2 + axes.free.size() + positions;
  const std::size_t given = mask.shape().size();
  if (given < positions || given > rank) {
    fail<ShapeError>(where, "attention_mask must have {} to {} axes, the last {} of queries and keys; got shape {}",
                     positions, rank, positions, mask.shape());
  }
  Value out = mask;
  while (out.shape().size() < rank) out = expand_dims(out, -1 - static_cast<std::int64_t>(positions));
  return out;
}

/// The mask for flattened_heads() operands. `query` and `key` are not flattened.
Value flattened_mask(const Value& mask, const Value& query, const Value& key, const PositionAxes& axes) {
  const Shape queries = sizes_along(query.shape(), axes.along), keys = sizes_along(key.shape(), axes.along);
  const Shape lead = joined_shapes({{query.shape()[0].or_unknown()}, sizes_along(query.shape(), axes.free)});
  const auto rank = static_cast<std::int64_t>(query.shape().size());
  // True in the axes of (batch, free axes, 1, 1...) and (queries, keys), so that the mask has their sizes.
  Value batch = any(
      ones_like(transpose(query, joined_shapes({{0}, axes.free, axes.along, {rank - 2, rank - 1}})), DType::boolean),
      {.axes = {-1}});
  while (batch.shape().size() > lead.size()) batch = any(batch, {.axes = {-1}});
  while (batch.shape().size() < mask.shape().size()) batch = expand_dims(batch, -1);
  const Value all = ones_like(Value(Tensor(joined_shapes({queries, keys}), DType::boolean)), DType::boolean);
  const Value full = logical_and(logical_and(mask, batch), all);
  return reshape(
      full, {known_count(lead), mask.shape()[lead.size()].or_unknown(), element_count(queries), element_count(keys)});
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(MultiHeadAttentionOptions options)
    : detail::HeadAttention("MultiHeadAttention", options), options_(std::move(options)) {
  detail::require_positive(label(), "num_heads", options_.num_heads);
  detail::require_positive(label(), "key_dim", options_.key_dim);
  if (options_.value_dim == 0) options_.value_dim = options_.key_dim;
  detail::require_positive(label(), "value_dim", options_.value_dim);
  for (const std::int64_t size : options_.output_shape.numbers()) {
    detail::require_positive(label(), "output_shape", size);
  }
  check_options(options_.sliding_window, options_.dropout, options_.flash_attention);
  const auto query = detail::projection_options(options_, options_.num_heads, options_.key_dim);
  const auto value = detail::projection_options(options_, options_.num_heads, options_.value_dim);
  add_projections(query, query, value, options_.use_gate, options_.output_shape.numbers());
  detail::set_weight_facts(*state(), {.numbers = {{"num_heads", options_.num_heads}}});
}

Values MultiHeadAttention::call_many(const Values& xs) {
  check_call(xs, options_.flash_attention);
  const std::size_t rank = xs[0].shape().size();
  const bool plain = rank == 3;
  for (std::size_t i = 0; i < 3 && i < xs.size(); ++i) {
    if (plain || rank < 3) {
      detail::require_rank(label(), xs[i].shape(), 3, "(batch, positions, size)");
    } else {
      detail::require_rank(label(), xs[i].shape(), rank, "the rank of the query");
    }
  }
  const PositionAxes axes = position_axes(label(), options_.attention_axes, rank);
  const Value &q = xs[0], &v = xs[1], &k = xs.size() > 2 ? xs[2] : xs[1];
  const Value masks = detail::joined_masks(q, v, k);
  if (masks.defined() && !plain) {
    fail<ShapeError>(label(), "masks of query, value and key need inputs of rank 3; got shape {}", q.shape());
  }
  if ((causal() || options_.sliding_window > 0) && axes.along.size() != 1) {
    fail<ShapeError>(label(), "{} needs one axis of positions; got attention over {} axes of shape {}",
                     causal() ? "use_causal_mask" : "sliding_window", axes.along.size(), q.shape());
  }
  const Heads heads = heads_of(q, k, v);
  const Value &query = heads.query, &key = heads.key, &value = heads.value;
  const Value flat_query = plain ? query : flattened_heads(label(), query, axes);
  const Value flat_key = plain ? key : flattened_heads(label(), key, axes);
  const Value flat_value = plain ? value : flattened_heads(label(), value, axes);
  detail::AttendOptions options{.causal = causal(),
                                .dropout = options_.dropout,
                                .with_scores = returns_scores(),
                                .fused = options_.flash_attention.value_or(true)};
  if (xs.size() > 3) {
    options.mask = over_heads(label(), detail::as_mask(xs[3]), axes);
    if (!plain) options.mask = flattened_mask(options.mask, query, key, axes);
  }
  if (masks.defined()) options.mask = detail::both_masks(options.mask, expand_dims(masks, 1));
  if (options_.sliding_window > 0) {
    const Value window = detail::window_mask(flat_query, flat_key, options_.sliding_window);
    options.mask = detail::both_masks(options.mask, expand_dims(window, 1));
  }
  AttentionResult result = detail::attend(flat_query, flat_key, flat_value, options);
  if (!plain) {
    if (returns_scores()) {
      const Shape lead = joined_shapes({{query.shape()[0].or_unknown()}, sizes_along(query.shape(), axes.free)});
      result.scores = reshape(result.scores, joined_shapes({lead,
                                                            {options_.num_heads},
                                                            sizes_along(query.shape(), axes.along),
                                                            sizes_along(key.shape(), axes.along)}));
    }
    result.output = restored_heads(result.output, query, axes);
  }
  return finished(result, heads.gate, q);
}

}  // namespace mezzo
