#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/backends/common/random.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

#include "ops/plain.hpp"

// Rows of attention and its gradient.
namespace mezzo_tests {

// What a row tries, beside its operands.
struct AttentionCase {
  std::int64_t batch = 2, heads = 3, queries = 5, keys = 7, size = 4, value_size = 6;
  bool causal = false;
  mezzo::Tensor mask{};  // bool, or float64 for a bias
  double rate = 0;
  double scale = 0.5;
  std::int64_t first_sample = 0;  // dropout counts samples from it; 0: not given

  // Kernels round weights, and cotangents of scores, to bfloat16 for the products. The weights of a query sum to 1, the
  // values are at most 1; in the gradient up to max(queries, keys) factors of about 1 are added.
  double weight_error() const { return 0x1p-9 / (1 - rate); }
  double gradient_error() const { return static_cast<double>(std::max(queries, keys)) * weight_error(); }

  bool masked() const { return mask.size() > 0; }
  bool biased() const { return masked() && mask.dtype() != mezzo::DType::boolean; }
  mezzo::Shape query() const { return {batch, queries, heads, size}; }
  mezzo::Shape key() const { return {batch, keys, heads, size}; }
  mezzo::Shape value() const { return {batch, keys, heads, value_size}; }
  mezzo::Shape result() const { return {batch, queries, heads, value_size}; }
  mezzo::Shape logarithms() const { return {batch, heads, queries}; }
  mezzo::Attributes attributes() const {
    return {{"scale", scale}, {"causal", causal}, {"masked", masked()}, {"rate", rate}, {"key", std::int64_t{11}}};
  }
  std::string note() const {
    return mezzo::to_string(query()) + " " + mezzo::to_string(value()) + " " + attributes().to_string() +
           (masked() ? " " + mask.describe() : "") + (first_sample > 0 ? " of a part" : "");
  }
};

constexpr double attention_seed = 3, attention_step = 8;

// The scores (batch, heads, queries, keys), -infinity where a query doesn't see a key.
inline mezzo::Tensor plain_scores(const AttentionCase& c, const mezzo::Tensor& q, const mezzo::Tensor& k,
                                  const mezzo::Tensor& mask) {
  mezzo::Tensor scores({c.batch, c.heads, c.queries, c.keys}, mezzo::DType::float64);
  const mezzo::Tensor wide = mask.size() > 0 ? mask.cast(mezzo::DType::float64) : mask;
  for_each_index(scores.shape(), [&](std::size_t flat, const mezzo::Shape& i) {
    double score = 0;
    for (std::int64_t s = 0; s < c.size; ++s) score += at(q, {i[0], i[2], i[1], s}) * at(k, {i[0], i[3], i[1], s});
    score *= c.scale;
    if (c.biased()) score += at(wide, i);
    const bool hidden = (c.causal && i[3] > i[2]) || (c.masked() && !c.biased() && at(wide, i) == 0);
    scores.mutable_data<double>()[flat] = hidden ? -std::numeric_limits<double>::infinity() : score;
  });
  return scores;
}

// log(sum of exp(scores)) over the keys; infinity where nothing is seen.
inline mezzo::Tensor plain_logarithms(const AttentionCase& c, const mezzo::Tensor& scores) {
  mezzo::Tensor sums({c.batch, c.heads, c.queries, 1}, mezzo::DType::float64);
  for_each_index(sums.shape(), [&](std::size_t flat, const mezzo::Shape&) {
    double sum = 0;
    for (std::int64_t j = 0; j < c.keys; ++j) {
      sum += std::exp(scores.data<double>()[static_cast<std::int64_t>(flat) * c.keys + j]);
    }
    sums.mutable_data<double>()[flat] = sum == 0 ? std::numeric_limits<double>::infinity() : std::log(sum);
  });
  return sums;
}

// What dropout multiplies each weight with: 0 or 1 / (1 - rate).
inline mezzo::Tensor plain_kept(const AttentionCase& c) {
  mezzo::Tensor kept({c.batch, c.heads, c.queries, c.keys}, mezzo::DType::float64);
  const std::uint64_t stream = mezzo::step_stream(11, attention_seed, attention_step);
  const std::int64_t padded = (c.keys + 63) / 64 * 64;
  for_each_index(kept.shape(), [&](std::size_t flat, const mezzo::Shape& i) {
    const auto n =
        static_cast<std::uint64_t>((((c.first_sample + i[0]) * c.heads + i[1]) * c.queries + i[2]) * padded + i[3]);
    const bool stays = mezzo::unit_float(mezzo::philox(stream, n / 4)[n % 4]) >= static_cast<float>(c.rate);
    kept.mutable_data<double>()[flat] = c.rate == 0 ? 1 : stays ? 1 / (1 - c.rate) : 0;
  });
  return kept;
}

inline TensorList plain_attention(const AttentionCase& c, const mezzo::Tensor& q, const mezzo::Tensor& k,
                                  const mezzo::Tensor& v, const mezzo::Tensor& mask) {
  const mezzo::Tensor scores = plain_scores(c, q, k, mask), logarithms = plain_logarithms(c, scores);
  const mezzo::Tensor weights = zip(zip(scores, logarithms, [](double s, double l) { return std::exp(s - l); }),
                                    plain_kept(c), [](double w, double kept) { return w * kept; });
  mezzo::Tensor y(c.result(), mezzo::DType::float64);
  for_each_index(y.shape(), [&](std::size_t flat, const mezzo::Shape& i) {
    for (std::int64_t j = 0; j < c.keys; ++j) {
      y.mutable_data<double>()[flat] += at(weights, {i[0], i[2], i[1], j}) * at(v, {i[0], j, i[2], i[3]});
    }
  });
  return {y, logarithms.reshape(c.logarithms())};
}

// As the gradient op has it: of the cotangent g of y, with the y and the logarithms that it is given.
inline TensorList plain_attention_gradient(const AttentionCase& c, const TensorList& x) {
  const mezzo::Tensor &g = x[0], &q = x[1], &k = x[2], &v = x[3], &y = x[4];
  const mezzo::Tensor scores = plain_scores(c, q, k, c.masked() ? x[6] : mezzo::Tensor());
  const mezzo::Tensor kept = plain_kept(c);
  TensorList out;
  for (const auto& shape : {c.query(), c.key(), c.value()}) out.emplace_back(shape, mezzo::DType::float64);
  const auto place = [](const mezzo::Tensor& t, const mezzo::Shape& i) {
    return ((i[0] * t.shape()[1] + i[1]) * t.shape()[2] + i[2]) * t.shape()[3] + i[3];
  };
  for_each_index(scores.shape(), [&](std::size_t flat, const mezzo::Shape& i) {
    const double weight = std::exp(scores.data<double>()[flat] - at(x[5], {i[0], i[1], i[2]}));
    double delta = 0, of_weight = 0;
    for (std::int64_t s = 0; s < c.value_size; ++s) {
      delta += at(g, {i[0], i[2], i[1], s}) * at(y, {i[0], i[2], i[1], s});
      of_weight += at(g, {i[0], i[2], i[1], s}) * at(v, {i[0], i[3], i[1], s});
      out[2].mutable_data<double>()[place(out[2], {i[0], i[3], i[1], s})] +=
          weight * kept.data<double>()[flat] * at(g, {i[0], i[2], i[1], s});
    }
    const double of_score = weight * (kept.data<double>()[flat] * of_weight - delta) * c.scale;
    for (std::int64_t s = 0; s < c.size; ++s) {
      out[0].mutable_data<double>()[place(q, {i[0], i[2], i[1], s})] += of_score * at(k, {i[0], i[3], i[1], s});
      out[1].mutable_data<double>()[place(k, {i[0], i[3], i[1], s})] += of_score * at(q, {i[0], i[2], i[1], s});
    }
  });
  return out;
}

// Operands of dropout.
inline std::vector<mezzo::Tensor> dropout_operands(const AttentionCase& c) {
  std::vector<mezzo::Tensor> out;
  if (c.rate == 0) return out;
  std::vector<double> numbers{attention_seed, attention_step};
  if (c.first_sample > 0) numbers.push_back(static_cast<double>(c.first_sample));
  for (const double number : numbers) out.emplace_back(mezzo::Shape{}, std::vector<double>{number});
  return out;
}

inline void add_mask_and_seed(const AttentionCase& c, std::vector<Argument>& arguments) {
  if (c.masked()) arguments.push_back({c.mask, c.biased() ? Role::accumulated() : Role(mezzo::DType::boolean)});
  for (const mezzo::Tensor& number : dropout_operands(c)) arguments.push_back({number, mezzo::DType::float64});
}

inline mezzo::Tensor mask_of(const AttentionCase& c, const TensorList& x, std::size_t first) {
  return c.masked() ? x[first] : mezzo::Tensor();
}

inline OpRow attention_row(const AttentionCase& c) {
  OpRow row{
      .op = "scaled_dot_product_attention",
      .note = c.note(),
      .call =
          [c](const mezzo::Values& x) {
            mezzo::AttentionOpOptions options;
            if (c.masked()) (c.biased() ? options.bias : options.mask) = x[3];
            options.is_causal = c.causal;
            options.scale = c.scale;
            return mezzo::Values{mezzo::dot_product_attention(x[0], x[1], x[2], options)};
          },
      .arguments = {{uniform(c.query(), -1, 1, 1)}, {uniform(c.key(), -1, 1, 2)}, {uniform(c.value(), -1, 1, 3)}},
      .outputs = {Role::varied()},
      .plain =
          [c](const TensorList& x) { return TensorList{plain_attention(c, x[0], x[1], x[2], mask_of(c, x, 3))[0]}; },
      .differentiable = {0, 1, 2},
      .depth = static_cast<double>(c.keys * c.size),
      .bfloat16_error = c.weight_error()};
  add_mask_and_seed(c, row.arguments);
  if (c.biased()) row.differentiable.push_back(3);
  return row;
}

// With the logarithms, which only its gradient sees; and with dropout, which happens in training only.
inline OpRow attention_node_row(const AttentionCase& c) {
  OpRow row = attention_row(c);
  row.note += ", with logarithms";
  row.call = inserted("scaled_dot_product_attention", c.attributes());
  row.outputs = {Role::varied(), Role::accumulated()};
  row.plain = [c](const TensorList& x) { return plain_attention(c, x[0], x[1], x[2], mask_of(c, x, 3)); };
  row.differentiable = {0, 1, 2};
  row.internal = true;
  return row;
}

inline OpRow attention_gradient_row(const AttentionCase& c) {
  const mezzo::Tensor q = uniform(c.query(), -1, 1, 1), k = uniform(c.key(), -1, 1, 2),
                      v = uniform(c.value(), -1, 1, 3);
  const TensorList results = plain_attention(c, q, k, v, c.mask);
  OpRow row{
      .op = "scaled_dot_product_attention_gradient",
      .note = c.note(),
      .call = inserted("scaled_dot_product_attention_gradient", c.attributes()),
      .arguments = {{uniform(c.result(), -1, 1, 4)}, {q}, {k}, {v}, {results[0]}, {results[1], Role::accumulated()}},
      .outputs = {Role::varied(), Role::varied(), Role::varied()},
      .plain = [c](const TensorList& x) { return plain_attention_gradient(c, x); },
      .depth = static_cast<double>(c.keys * c.size),
      .bfloat16_error = c.gradient_error(),
      .internal = true};
  add_mask_and_seed(c, row.arguments);
  return row;
}

inline std::vector<AttentionCase> attention_cases() {
  const AttentionCase plain;
  AttentionCase causal = plain, masked = plain, biased = plain, both = plain, dropped = plain, part = plain,
                wide = plain;
  AttentionCase no_batch = plain, no_queries = plain, no_keys = plain, no_heads = plain, no_size = plain;
  no_batch.batch = no_queries.queries = no_keys.keys = no_heads.heads = no_size.size = no_size.value_size = 0;
  causal.causal = true;
  masked.mask = integers({2, 1, 1, 7}, mezzo::DType::boolean, 0, 2);
  masked.mask.mutable_data<bool>()[0] = masked.mask.mutable_data<bool>()[13] = true;  // something is seen
  biased.mask = uniform({3, 5, 7}, -1, 1, 5);
  both.mask = uniform({2, 1, 5, 7}, -1, 1, 6);
  both.causal = true;
  dropped.rate = 0.25;
  dropped.mask = masked.mask;
  part.rate = 0.25;
  part.first_sample = 5;
  wide.size = 33;
  wide.value_size = 40;
  wide.keys = wide.queries = 9;
  return {plain, causal, masked, biased, both, dropped, part, wide, no_batch, no_keys, no_heads, no_size, no_queries};
}

inline std::vector<OpRow> attention_rows() {
  std::vector<OpRow> rows;
  for (const AttentionCase& c : attention_cases()) {
    if (c.rate == 0) rows.push_back(attention_row(c));
    rows.push_back(attention_node_row(c));
    rows.push_back(attention_gradient_row(c));
  }
  return rows;
}

inline std::vector<Refusal> attention_refusals() {
  using mezzo::DType;
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const std::string op = "scaled_dot_product_attention", gradient = op + "_gradient";
  const auto attend = [](const mezzo::Shape& q, const mezzo::Shape& k, const mezzo::Shape& v,
                         const mezzo::AttentionOpOptions& options = {}) {
    return [=] { mezzo::dot_product_attention(Tensor(q), Tensor(k), Tensor(v), options); };
  };
  const mezzo::Shape q{2, 5, 3, 4}, k{2, 7, 3, 4};
  const std::string where = "[" + op + "] ", function = "[dot_product_attention] ";
  return {
      refusal<ShapeError>(op, where + "input 0 must have rank 4 (batch, positions, heads, size); got shape (5, 4)",
                          attend({5, 4}, k, k)),
      refusal<ShapeError>(op, where + "input 1 axis 0 must be 2 (batch of the query); got shape (3, 7, 3, 4)",
                          attend(q, {3, 7, 3, 4}, k)),
      refusal<ShapeError>(op, where + "input 2 axis 2 must be 3 (heads of the query); got shape (2, 7, 1, 4)",
                          attend(q, k, {2, 7, 1, 4})),
      refusal<ShapeError>(op, where + "input 1 axis 3 must be 4 (size of the query); got shape (2, 7, 3, 5)",
                          attend(q, {2, 7, 3, 5}, k)),
      refusal<ShapeError>(op, where + "input 2 axis 1 must be 7 (positions of the key); got shape (2, 6, 3, 4)",
                          attend(q, k, {2, 6, 3, 4})),
      refusal<ShapeError>(op,
                          where + "mask must broadcast to (2, 3, 5, 7) (batch, heads, query positions, key positions); "
                                  "got shape (1, 2, 3, 5, 7)",
                          attend(q, k, k, {.mask = Tensor({1, 2, 3, 5, 7}, DType::boolean)})),
      refusal<mezzo::DTypeError>(op, function + "mask must be bool; got float32 (pass an additive mask as bias)",
                                 attend(q, k, k, {.mask = Tensor({5, 7})})),
      refusal<mezzo::ValueError>(op, function + "dropout must lie in [0, 1); got 1", attend(q, k, k, {.dropout = 1})),
      refusal<ShapeError>(gradient, "[" + gradient + "] the cotangent must have shape (2, 5, 3, 4); got (2, 5, 3, 5)",
                          [gradient, q, k] {
                            AttentionCase c;
                            inserted(gradient, c.attributes())(
                                {Tensor({2, 5, 3, 5}), Tensor(q), Tensor(k), Tensor(k), Tensor(q), Tensor({2, 3, 5})});
                          })};
}

}  // namespace mezzo_tests
