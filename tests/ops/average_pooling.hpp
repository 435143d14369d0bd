#pragma once

#include <algorithm>

#include "ops/plain.hpp"

// Rows of average pooling and its gradient.
namespace mezzo_tests {

struct AveragePool {
  std::string note;
  mezzo::Shape x;
  mezzo::AvgPool2DOpOptions options;
  mezzo::Shape window, strides, padding;  // what the options come to
  bool count_padding;

  mezzo::Shape to() const {
    mezzo::Shape shape = x;
    for (std::size_t i = 0; i < 2; ++i) {
      shape[i + 1] = (x[i + 1] + padding[2 * i] + padding[2 * i + 1] - window[i]) / strides[i] + 1;
    }
    return shape;
  }

  mezzo::Attributes attributes() const {
    return {{"window", window}, {"strides", strides}, {"padding", padding}, {"count_padding", count_padding}};
  }

  // Calls visit(output element, input element, share of the input in the output).
  void for_each_share(const std::function<void(std::size_t, std::int64_t, double)>& visit) const {
    for_each_index(to(), [&](std::size_t flat, const mezzo::Shape& index) {
      std::vector<std::int64_t> inside;
      for_each_index(window, [&](std::size_t, const mezzo::Shape& offset) {
        mezzo::Shape from = index;
        for (std::size_t i = 0; i < 2; ++i) {
          from[i + 1] = index[i + 1] * strides[i] + offset[i] - padding[2 * i];
          if (from[i + 1] < 0 || from[i + 1] >= x[i + 1]) return;
        }
        inside.push_back(((from[0] * x[1] + from[1]) * x[2] + from[2]) * x[3] + from[3]);
      });
      const double count =
          count_padding ? static_cast<double>(window[0] * window[1]) : static_cast<double>(inside.size());
      for (const std::int64_t place : inside) visit(flat, place, 1 / count);
    });
  }
};

inline std::vector<OpRow> average_pool_rows() {
  const AveragePool pools[] = {
      {"of 2", {2, 4, 6, 3}, {}, {2, 2}, {2, 2}, {0, 0, 0, 0}, false},
      {"torch's padding",
       {1, 5, 6, 2},
       {.pool_size = 3, .strides = 2, .padding = 1},
       {3, 3},
       {2, 2},
       {1, 1, 1, 1},
       true},
      {"torch's, not counted",
       {1, 5, 6, 2},
       {.pool_size = 3, .strides = 2, .padding = 1, .count_padding = false},
       {3, 3},
       {2, 2},
       {1, 1, 1, 1},
       false},
      {"same", {1, 5, 5, 17}, {.pool_size = {2, 3}, .padding = "same"}, {2, 3}, {2, 3}, {0, 1, 0, 1}, false},
      {"same, counted",
       {1, 5, 5, 2},
       {.pool_size = {2, 3}, .padding = "same", .count_padding = true},
       {2, 3},
       {2, 3},
       {0, 1, 0, 1},
       true},
      {"with gaps", {1, 7, 5, 2}, {.pool_size = 2, .strides = {3, 1}}, {2, 2}, {3, 1}, {0, 0, 0, 0}, false},
      {"without images", {0, 4, 6, 3}, {}, {2, 2}, {2, 2}, {0, 0, 0, 0}, false},
      {"without channels", {2, 4, 6, 0}, {}, {2, 2}, {2, 2}, {0, 0, 0, 0}, false}};
  std::vector<OpRow> rows;
  for (const AveragePool& pool : pools) {
    rows.push_back(
        {.op = "avg_pool2d",
         .note = pool.note,
         .call = [pool](const mezzo::Values& v) { return mezzo::Values{mezzo::avg_pool2d(v[0], pool.options)}; },
         .arguments = {{uniform(pool.x, -1, 1)}},
         .outputs = {Role::varied()},
         .plain =
             [pool](const TensorList& v) {
               mezzo::Tensor out(pool.to(), mezzo::DType::float64);
               pool.for_each_share([&](std::size_t to, std::int64_t from, double share) {
                 out.mutable_data<double>()[to] += v[0].data<double>()[from] * share;
               });
               return TensorList{out};
             },
         .differentiable = {0},
         .depth = 9});
    mezzo::Attributes attributes = pool.attributes();
    attributes.set("shape", pool.x);
    rows.push_back({.op = "avg_pool2d_gradient",
                    .note = pool.note,
                    .call = inserted("avg_pool2d_gradient", attributes),
                    .arguments = {{uniform(pool.to(), -1, 1)}},
                    .outputs = {Role::varied()},
                    .plain =
                        [pool](const TensorList& v) {
                          mezzo::Tensor out(pool.x, mezzo::DType::float64);
                          pool.for_each_share([&](std::size_t from, std::int64_t to, double share) {
                            out.mutable_data<double>()[to] += v[0].data<double>()[from] * share;
                          });
                          return TensorList{out};
                        },
                    .depth = 9,
                    .internal = true});
  }
  return rows;
}

inline std::vector<Refusal> average_pool_refusals() {
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const std::string op = "avg_pool2d", gradient = op + "_gradient";
  const mezzo::Attributes attributes{{"window", mezzo::Shape{2, 2}},
                                     {"strides", mezzo::Shape{2, 2}},
                                     {"padding", mezzo::Shape{0, 0, 0, 0}},
                                     {"count_padding", false},
                                     {"shape", mezzo::Shape{1, 4, 4, 1}}};
  return {refusal<ShapeError>(
              op, "[avg_pool2d] input 0 must have rank 4 (batch, height, width, channels); got shape (4, 4, 1)",
              [] {
                mezzo::avg_pool2d(Tensor({4, 4, 1}));
              }),
          refusal<ShapeError>(op, "[avg_pool2d] input axis 2 must be at least 3 (pool_size 3); got shape (1, 4, 2, 1)",
                              [] {
                                mezzo::avg_pool2d(Tensor({1, 4, 2, 1}), {.pool_size = 3});
                              }),
          refusal<mezzo::ValueError>(op, "[avg_pool2d] padding must be at most half of the window (2, 2); got 2",
                                     [] {
                                       mezzo::avg_pool2d(Tensor({1, 4, 4, 1}), {.padding = 2});
                                     }),
          refusal<mezzo::ValueError>(op, "[avg_pool2d] strides must be one or two numbers of at least 1; got (0,)",
                                     [] {
                                       mezzo::avg_pool2d(Tensor({1, 4, 4, 1}), {.strides = 0});
                                     }),
          refusal<ShapeError>(
              gradient, "[avg_pool2d_gradient] the cotangent must have shape (1, 2, 2, 1); got (1, 3, 2, 1)", [=] {
                inserted(gradient, attributes)({Tensor({1, 3, 2, 1})});
              })};
}

}  // namespace mezzo_tests
