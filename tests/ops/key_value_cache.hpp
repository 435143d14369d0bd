#pragma once

#include <algorithm>
#include <cmath>

#include <mezzo/ops/key_value_cache.hpp>

#include "ops/plain.hpp"

// Rows of cached_attention and cache_update.
namespace mezzo_tests {

// What a row tries, beside its operands.
struct CacheCase {
  std::int64_t batch = 2, heads = 6, groups = 3, capacity = 7, size = 4, value_size = 5;
  std::int32_t position = 4;

  mezzo::Shape fresh(std::int64_t count, std::int64_t width) const { return {batch, 1, count, width}; }
  mezzo::Shape cache(std::int64_t width) const { return {batch, groups, capacity, width}; }
  std::int64_t filled() const { return std::min<std::int64_t>(std::max(position, 0), capacity); }
  std::string note() const {
    return mezzo::to_string(cache(size)) + " " + std::to_string(value_size) + ", " + std::to_string(heads) +
           " heads, at " + std::to_string(position);
  }
};

inline mezzo::Tensor position_tensor(std::int32_t position) {
  return mezzo::Tensor({}, std::vector<std::int32_t>{position});
}

inline mezzo::Tensor plain_cached_attention(const CacheCase& c, const TensorList& x) {
  mezzo::Tensor out(c.fresh(c.heads, c.value_size), mezzo::DType::float64);
  for_each_index(out.shape(), [&](std::size_t flat, const mezzo::Shape& i) {
    const std::int64_t group = i[2] / (c.heads / c.groups);
    double total = 0, sum = 0;
    for (std::int64_t j = 0; j <= c.filled(); ++j) {
      const bool fresh = j == c.filled();
      double score = 0;
      for (std::int64_t s = 0; s < c.size; ++s) {
        score += at(x[0], {i[0], 0, i[2], s}) * (fresh ? at(x[1], {i[0], 0, group, s}) : at(x[3], {i[0], group, j, s}));
      }
      const double weight = std::exp(score / std::sqrt(static_cast<double>(c.size)));
      total += weight;
      sum += weight * (fresh ? at(x[2], {i[0], 0, group, i[3]}) : at(x[4], {i[0], group, j, i[3]}));
    }
    out.mutable_data<double>()[flat] = sum / total;
  });
  return out;
}

inline OpRow cached_attention_row(const CacheCase& c) {
  return {.op = "cached_attention",
          .note = c.note(),
          .call =
              [](const mezzo::Values& x) {
                return mezzo::Values{mezzo::cached_attention(x[0], x[1], x[2], x[3], x[4], x[5])};
              },
          .arguments = {{uniform(c.fresh(c.heads, c.size), -1, 1, 1)},
                        {uniform(c.fresh(c.groups, c.size), -1, 1, 2)},
                        {uniform(c.fresh(c.groups, c.value_size), -1, 1, 3)},
                        {uniform(c.cache(c.size), -1, 1, 4)},
                        {uniform(c.cache(c.value_size), -1, 1, 5)},
                        {position_tensor(c.position), mezzo::DType::int32}},
          .outputs = {Role::varied()},
          .plain = [c](const TensorList& x) { return TensorList{plain_cached_attention(c, x)}; },
          .depth = static_cast<double>((c.capacity + 1) * c.size)};
}

inline OpRow cache_update_row(const CacheCase& c, std::int64_t count) {
  return {.op = "cache_update",
          .note = c.note() + ", " + std::to_string(count) + " positions",
          .call = [](const mezzo::Values& x) { return mezzo::Values{mezzo::cache_update(x[0], x[1], x[2])}; },
          .arguments = {{uniform(c.cache(c.size), -1, 1, 1)},
                        {uniform({c.batch, count, c.groups, c.size}, -1, 1, 2)},
                        {position_tensor(c.position), mezzo::DType::int32}},
          .outputs = {Role::varied()},
          .plain =
              [c, count](const TensorList& x) {
                const std::int64_t first = std::min(c.filled(), c.capacity - count);
                mezzo::Tensor out = x[0];
                for_each_index(out.shape(), [&](std::size_t flat, const mezzo::Shape& i) {
                  const std::int64_t fresh = i[2] - first;
                  if (fresh < 0 || fresh >= count) return;
                  out.mutable_data<double>()[flat] = at(x[1], {i[0], fresh, i[1], i[3]});
                });
                return TensorList{out};
              },
          .exact_on_integers = true,
          .keeps = true};
}

inline std::vector<OpRow> key_value_cache_rows() {
  const CacheCase plain;
  CacheCase start = plain, full = plain, above = plain, below = plain, alone = plain, wide = plain, no_batch = plain;
  start.position = 0;
  full.position = 7;
  above.position = 9;
  below.position = -3;
  alone.heads = alone.groups = 1;
  wide.size = 70;
  wide.value_size = 133;
  wide.position = 6;
  no_batch.batch = 0;
  std::vector<OpRow> rows;
  for (const CacheCase& c : {plain, start, full, above, below, alone, wide, no_batch}) {
    rows.push_back(cached_attention_row(c));
    for (const std::int64_t count : {1, 3}) rows.push_back(cache_update_row(c, count));
  }
  return rows;
}

inline std::vector<Refusal> key_value_cache_refusals() {
  using mezzo::DType;
  using mezzo::DTypeError;
  using mezzo::Shape;
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const auto attend = [](const Shape& query, const Shape& key, const Shape& value, const Shape& keys,
                         const Shape& values, const Tensor& position) {
    return [=] {
      mezzo::cached_attention(Tensor(query), Tensor(key), Tensor(value), Tensor(keys), Tensor(values), position);
    };
  };
  const auto update = [](const Tensor& cache, const Tensor& x) {
    return [=] { mezzo::cache_update(cache, x, position_tensor(0)); };
  };
  const Shape query{2, 1, 6, 4}, fresh{2, 1, 3, 4}, cache{2, 3, 7, 4};
  const Tensor at = position_tensor(0);
  const std::string attention = "cached_attention", writing = "cache_update", where = "[" + attention + "] ";
  return {refusal<ShapeError>(attention, where + "input 0 must be (2, 1, 6, 4); got (2, 2, 6, 4)",
                              attend({2, 2, 6, 4}, fresh, fresh, cache, cache, at)),
          refusal<ShapeError>(attention, where + "heads of the caches must divide those of the query; got 4 and 6",
                              attend(query, fresh, fresh, {2, 4, 7, 4}, cache, at)),
          refusal<ShapeError>(attention, where + "input 1 must be (2, 1, 3, 4); got (2, 1, 6, 4)",
                              attend(query, query, fresh, cache, cache, at)),
          refusal<ShapeError>(attention, where + "input 4 must be (2, 3, 7, 4); got (2, 3, 8, 4)",
                              attend(query, fresh, fresh, cache, {2, 3, 8, 4}, at)),
          refusal<DTypeError>(attention, where + "position must be int32; got float32",
                              attend(query, fresh, fresh, cache, cache, Tensor(Shape{}))),
          refusal<ShapeError>(attention, where + "position must be a scalar; got shape (1,)",
                              attend(query, fresh, fresh, cache, cache, Tensor({1}, DType::int32))),
          refusal<DTypeError>(writing, "[cache_update] input 1 must be float32 as the cache; got float64",
                              update(Tensor(cache), Tensor(fresh, DType::float64))),
          refusal<ShapeError>(writing, "[cache_update] input 1 must be (2, 1, 3, 4); got (2, 1, 3, 5)",
                              update(Tensor(cache), Tensor({2, 1, 3, 5}))),
          refusal<ShapeError>(writing, "[cache_update] input 1 may have at most 7 positions, as the cache; got 8",
                              update(Tensor(cache), Tensor({2, 8, 3, 4})))};
}

}  // namespace mezzo_tests
