#include <mezzo/ops/key_value_cache.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

const char* const cache_axes = "(batch, heads, capacity, size)";
const char* const token_axes = "(batch, positions, heads, size)";

void require_shape(const OpCall& call, std::size_t i, const Shape& expected) {
  if (call.inputs[i].shape == expected) return;
  fail<ShapeError>(call.where, "input {} must be {}; got {}", i, expected, call.inputs[i].shape);
}

void require_position(const OpCall& call, std::size_t i) {
  const Spec& position = call.inputs[i];
  if (position.dtype != DType::int32) {
    fail<DTypeError>(call.where, "position must be int32; got {}", position.dtype);
  }
  if (!position.shape.empty()) fail<ShapeError>(call.where, "position must be a scalar; got shape {}", position.shape);
}

std::vector<Spec> infer_cached_attention(const OpCall& call) {
  for (std::size_t i = 0; i < 5; ++i) {
    detail::require_float(call, i);
    detail::require_rank(call, i, 4, i < 3 ? token_axes : cache_axes);
  }
  require_position(call, 5);
  const Shape& query = call.inputs[0].shape;
  const Shape& keys = call.inputs[3].shape;
  const std::int64_t batch = query[0], heads = query[2], size = query[3], groups = keys[1];
  const std::int64_t capacity = keys[2], value_size = call.inputs[4].shape[3];
  require_shape(call, 0, {batch, 1, heads, size});
  if (groups == 0 || heads % groups != 0) {
    fail<ShapeError>(call.where, "heads of the caches must divide those of the query; got {} and {}", groups, heads);
  }
  require_shape(call, 1, {batch, 1, groups, size});
  require_shape(call, 2, {batch, 1, groups, value_size});
  require_shape(call, 3, {batch, groups, capacity, size});
  require_shape(call, 4, {batch, groups, capacity, value_size});
  return {{{batch, 1, heads, value_size}, call.inputs[0].dtype}};
}

std::vector<Spec> infer_cache_update(const OpCall& call) {
  detail::require_rank(call, 0, 4, cache_axes);
  detail::require_rank(call, 1, 4, token_axes);
  require_position(call, 2);
  const Spec& cache = call.inputs[0];
  const Spec& x = call.inputs[1];
  if (x.dtype != cache.dtype) {
    fail<DTypeError>(call.where, "input 1 must be {} as the cache; got {}", cache.dtype, x.dtype);
  }
  require_shape(call, 1, {cache.shape[0], x.shape[1], cache.shape[1], cache.shape[3]});
  if (x.shape[1] > cache.shape[2]) {
    fail<ShapeError>(call.where, "input 1 may have at most {} positions, as the cache; got {}", cache.shape[2],
                     x.shape[1]);
  }
  return {cache};
}

}  // namespace

Op detail::define_cached_attention() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::promote, Cast::promote, Cast::promote, Cast::promote, Cast::keep};
  op.cast.floats_only = false;
  op.cast.by_first = true;
  op.infer = infer_cached_attention;
  return op;
}

Op detail::define_cache_update() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_cache_update;
  op.in_place = {0};
  return op;
}

Value cached_attention(const Value& query, const Value& key, const Value& value, const Value& keys, const Value& values,
                       const Value& position, const CachedAttentionOptions& options) {
  const Shape& shape = query.shape();
  if (shape.empty()) {
    fail<ShapeError>(detail::current_label("cached_attention"), "query must have axes {}; got shape ()", token_axes);
  }
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(shape.back())));
  return insert_one(ops::cached_attention, {query, key, value, keys, values, position}, {{"scale", scale}});
}

Value cache_update(const Value& cache, const Value& x, const Value& position) {
  return insert_one(ops::cache_update, {cache, x, position});
}

}  // namespace mezzo
