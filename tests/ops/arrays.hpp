#pragma once

#include <algorithm>

#include "ops/plain.hpp"

// Rows of reductions other than sums, of scans and of sorting.
namespace mezzo_tests {

using Numbers = std::vector<double>;

// Calls visit(offset of the first element, distance of elements, number of elements) for each line along an axis.
inline void for_each_line(const mezzo::Shape& shape, std::size_t axis,
                          const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
  const std::int64_t count = shape[axis];
  std::int64_t inner = 1, outer = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    (i < axis ? outer : i > axis ? inner : outer) *= i == axis ? 1 : shape[i];
  for (std::int64_t i = 0; i < outer; ++i) {
    for (std::int64_t k = 0; k < inner; ++k) visit(i * count * inner + k, inner, count);
  }
}

// x with each line along an axis replaced by function(line), which has `size` elements.
inline mezzo::Tensor plain_along(const mezzo::Tensor& x, std::size_t axis, std::int64_t size,
                                 const std::function<Numbers(const Numbers&)>& function) {
  mezzo::Shape to = x.shape();
  to[axis] = size;
  mezzo::Tensor out(to, mezzo::DType::float64);
  const Numbers numbers = x.to_doubles();
  std::vector<Numbers> lines;
  for_each_line(x.shape(), axis, [&](std::int64_t start, std::int64_t step, std::int64_t count) {
    Numbers line;
    for (std::int64_t i = 0; i < count; ++i) line.push_back(numbers[static_cast<std::size_t>(start + i * step)]);
    lines.push_back(function(line));
  });
  std::size_t next = 0;
  for_each_line(to, axis, [&](std::int64_t start, std::int64_t step, std::int64_t count) {
    const Numbers& line = lines[next++];
    for (std::int64_t i = 0; i < count; ++i) {
      out.mutable_data<double>()[start + i * step] = line[static_cast<std::size_t>(i)];
    }
  });
  return out;
}

// Each axis of `axes` (normalized; none: all) reduced by function(line) in turn.
inline mezzo::Tensor plain_fold(mezzo::Tensor x, mezzo::Shape axes, bool keepdims,
                                const std::function<double(const Numbers&)>& function) {
  x = x.cast(mezzo::DType::float64);
  if (axes.empty()) {
    axes.resize(x.shape().size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  for (const auto axis : axes) {
    x = plain_along(x, static_cast<std::size_t>(axis), 1, [&](const Numbers& line) { return Numbers{function(line)}; });
  }
  mezzo::Shape squeezed;
  for (std::size_t i = 0; i < x.shape().size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
      squeezed.push_back(x.shape()[i]);
  }
  return keepdims ? x : x.reshape(squeezed);
}

struct FoldKind {
  const char* op;
  mezzo::Value (*function)(const mezzo::Value&, const mezzo::ReduceOptions&);
  std::function<double(const Numbers&)> plain;
};

inline const std::vector<FoldKind>& fold_kinds() {
  static const std::vector<FoldKind> kinds{
      {"max", mezzo::max, [](const Numbers& x) { return *std::max_element(x.begin(), x.end()); }},
      {"min", mezzo::min, [](const Numbers& x) { return *std::min_element(x.begin(), x.end()); }},
      {"prod", mezzo::prod,
       [](const Numbers& x) { return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>()); }},
      {"any", mezzo::any, [](const Numbers& x) { return x.empty() ? 0 : *std::max_element(x.begin(), x.end()); }},
      {"all", mezzo::all, [](const Numbers& x) { return x.empty() ? 1 : *std::min_element(x.begin(), x.end()); }}};
  return kinds;
}

inline std::vector<OpRow> fold_rows() {
  struct Case {
    mezzo::Shape shape, axes;
    bool keepdims = false;
  };
  std::vector<OpRow> rows;
  for (const FoldKind& kind : fold_kinds()) {
    const std::string op = kind.op;
    const bool truth = op == "any" || op == "all", extreme = op == "max" || op == "min";
    for (const Case& c :
         {Case{{3, 4}, {}}, Case{{2, 3, 4}, {1}}, Case{{2, 3, 4, 5}, {0, 2}}, Case{{3, 4}, {1}, true},
          Case{{40, 33}, {0}}, Case{{5, 129}, {1}}, Case{{}, {}}, Case{{0, 3}, {1}}, Case{{0, 3}, {0}}}) {
      if (extreme && c.shape == mezzo::Shape{0, 3} && c.axes == mezzo::Shape{0}) continue;  // an error
      const auto function = kind.function;
      const auto plain = kind.plain;
      OpRow row{.op = op,
                .note = mezzo::to_string(c.shape) + " over " + mezzo::to_string(c.axes) + (c.keepdims ? ", kept" : ""),
                .call =
                    [=](const mezzo::Values& v) {
                      return mezzo::Values{function(v[0], {c.axes, c.keepdims})};
                    },
                .arguments = {{extreme ? apart(c.shape) : uniform(c.shape, 0.8, 1.2)}},
                .outputs = {Role::varied()},
                .plain = [=](const TensorList& v) { return TensorList{plain_fold(v[0], c.axes, c.keepdims, plain)}; },
                .differentiable = {0},
                .depth = extreme ? 0 : static_cast<double>(mezzo::element_count(c.shape)),
                .exact_on_integers = extreme};
      if (truth) {
        const double low = op == "any" ? 0 : 0.3;  // about as many true results as false ones
        row.arguments = {
            {map(uniform(c.shape, low, 1.2), [](double x) { return x > 1 ? 1 : 0; }).cast(mezzo::DType::boolean),
             mezzo::DType::boolean}};
        row.outputs = {mezzo::DType::boolean};
        row.plain = [=](const TensorList& v) {
          return TensorList{plain_fold(v[0], c.axes, c.keepdims, plain).cast(mezzo::DType::boolean)};
        };
        row.differentiable = {};
        row.depth = 0;
      }
      rows.push_back(row);
    }
  }
  return rows;
}

inline std::vector<OpRow> scan_rows() {
  struct Case {
    mezzo::Shape shape;
    std::int64_t axis;
    bool reverse, exclusive;
  };
  std::vector<OpRow> rows;
  for (const bool product : {false, true}) {
    for (const Case& c : {Case{{7}, 0, false, false}, Case{{3, 5}, 1, false, false}, Case{{4, 3, 2}, 1, false, false},
                          Case{{3, 300}, 0, false, false}, Case{{3, 5}, 1, true, false}, Case{{3, 5}, 0, false, true},
                          Case{{0, 3}, 0, false, false}, Case{{2, 0}, 0, false, false}}) {
      const auto line = [=](const Numbers& x) {
        Numbers out(x.size());
        double total = product ? 1 : 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const std::size_t at = c.reverse ? x.size() - 1 - i : i;
          const double next = product ? total * x[at] : total + x[at];
          out[at] = c.exclusive ? total : next;
          total = next;
        }
        return out;
      };
      const std::string op = product ? "cumprod" : "cumsum";
      const double depth = static_cast<double>(c.shape[static_cast<std::size_t>(c.axis)]);
      OpRow row{.op = op,
                .note = mezzo::to_string(c.shape) + " along " + std::to_string(c.axis) +
                        (c.reverse ? ", reverse" : "") + (c.exclusive ? ", exclusive" : ""),
                .call = inserted(op, {{"axis", c.axis}, {"reverse", c.reverse}, {"exclusive", c.exclusive}}),
                .arguments = {{uniform(c.shape, 0.5, 1.5)}},
                .outputs = {Role::varied()},
                .plain =
                    [=](const TensorList& v) {
                      return TensorList{plain_along(v[0], static_cast<std::size_t>(c.axis),
                                                    c.shape[static_cast<std::size_t>(c.axis)], line)};
                    },
                .differentiable = {0},
                .depth = depth,
                .exact_on_integers = !product};
      if (product && (c.reverse || c.exclusive)) row.differentiable = {};  // parts of prod's gradient
      rows.push_back(row);
    }
  }
  for (const mezzo::Shape& shape : {mezzo::Shape{4, 6}, mezzo::Shape{0, 3}, mezzo::Shape{2, 300}}) {
    rows.push_back({.op = "cumprod_gradient",
                    .note = mezzo::to_string(shape),
                    .call = inserted("cumprod_gradient", {{"axis", std::int64_t{1}}}),
                    .arguments = {{uniform(shape, -1, 1)}, {uniform(shape, -1, 1, 2)}},
                    .outputs = {Role::varied()},
                    .plain =
                        [](const TensorList& v) {
                          mezzo::Tensor out(v[0].shape(), mezzo::DType::float64);
                          const std::int64_t n = v[0].shape()[1];
                          for (std::int64_t at = 0; at < v[0].size(); ++at) {
                            const std::int64_t line = at / n * n, i = at % n;
                            for (std::int64_t k = i; k < n; ++k) {
                              double product = v[1].data<double>()[line + k];
                              for (std::int64_t j = 0; j <= k; ++j)
                                product *= j == i ? 1 : v[0].data<double>()[line + j];
                              out.mutable_data<double>()[at] += product;
                            }
                          }
                          return TensorList{out};
                        },
                    .ulps = 1.5,  // the two factors are rounded
                    .depth = static_cast<double>(shape[1]),
                    .internal = true});
  }
  return rows;
}

inline OpRow flip_row(const mezzo::Shape& shape, const mezzo::Shape& axes) {
  return {.op = "flip",
          .note = mezzo::to_string(shape) + " along " + mezzo::to_string(axes),
          .call = inserted("flip", {{"axes", axes}}),
          .arguments = {{uniform(shape, -1, 1)}},
          .outputs = {Role::varied()},
          .plain =
              [axes](const TensorList& v) {
                mezzo::Tensor out = v[0];
                for (const auto axis : axes) {
                  out = plain_along(out, static_cast<std::size_t>(axis), out.shape()[static_cast<std::size_t>(axis)],
                                    [](const Numbers& x) { return Numbers(x.rbegin(), x.rend()); });
                }
                return TensorList{out};
              },
          .differentiable = {0},
          .exact_on_integers = true};
}

// Places of the elements of a line in ascending order, or descending.
inline std::vector<std::size_t> plain_order(const Numbers& x, bool descending) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return descending ? x[a] > x[b] : x[a] < x[b]; });
  return order;
}

inline std::vector<OpRow> sorting_rows() {
  using mezzo::DType;
  using mezzo::Shape;
  std::vector<OpRow> rows;
  for (const auto& of_case :
       {std::pair{Shape{6, 5}, 1}, {Shape{6, 5}, 0}, {Shape{3, 4, 2}, 1}, {Shape{0, 3}, 0}, {Shape{2, 200}, 1}}) {
    const Shape& shape = of_case.first;
    const int axis = of_case.second;  // no structured binding, since lambdas capture it
    const auto along = static_cast<std::size_t>(axis);
    const Shape of = shape;
    rows.push_back({.op = "argsort",
                    .note = mezzo::to_string(shape) + " along " + std::to_string(axis),
                    .call = inserted("argsort", {{"axis", std::int64_t{axis}}}),
                    .arguments = {{small_integers(shape, DType::float64)}},  // with equals
                    .outputs = {DType::int64},
                    .plain = [=](const TensorList& v) {
                      return TensorList{plain_along(v[0], along, of[along], [](const Numbers& x) {
                                          Numbers out;
                                          for (const auto i : plain_order(x, false)) {
                                            out.push_back(static_cast<double>(i));
                                          }
                                          return out;
                                        }).cast(DType::int64)};
                    }});
    rows.push_back({.op = "argmin",
                    .note = mezzo::to_string(shape) + " along " + std::to_string(axis),
                    .call = [=](const mezzo::Values& v) { return mezzo::Values{mezzo::argmin(v[0], axis)}; },
                    .arguments = {{small_integers(Shape(shape.size() == 2 && shape[0] == 0 ? Shape{4, 0} : shape),
                                                  DType::float64)}},
                    .outputs = {DType::int64},
                    .plain =
                        [=](const TensorList& v) {
                          const mezzo::Tensor out = plain_along(v[0], along, 1, [](const Numbers& x) {
                            return Numbers{static_cast<double>(plain_order(x, false).front())};
                          });
                          Shape to = out.shape();
                          to.erase(to.begin() + axis);
                          return TensorList{out.reshape(to).cast(DType::int64)};
                        }});
  }
  for (const auto& [shape, k] : {std::pair{Shape{4, 7}, 3}, {Shape{4, 7}, 7}, {Shape{5}, 1}, {Shape{0, 3}, 2}}) {
    rows.push_back({.op = "top_k",
                    .note = mezzo::to_string(shape) + " of " + std::to_string(k),
                    .call =
                        [k = k](const mezzo::Values& v) {
                          const mezzo::TopK out = mezzo::top_k(v[0], k);
                          return mezzo::Values{out.values, out.indices};
                        },
                    .arguments = {{apart(shape)}},
                    .outputs = {Role::varied(), DType::int64},
                    .plain =
                        [k = k](const TensorList& v) {
                          TensorList out;
                          for (const bool values : {true, false}) {
                            out.push_back(plain_along(v[0], v[0].shape().size() - 1, k, [=](const Numbers& x) {
                              Numbers first;
                              for (const auto i : plain_order(x, true))
                                first.push_back(values ? x[i] : static_cast<double>(i));
                              first.resize(static_cast<std::size_t>(k));
                              return first;
                            }));
                          }
                          return TensorList{out[0], out[1].cast(DType::int64)};
                        },
                    .differentiable = {0},
                    .exact_on_integers = true});
  }
  for (const std::int64_t batch : {6, 0}) {
    rows.push_back({.op = "in_top_k",
                    .note = "of " + std::to_string(batch),
                    .call = inserted("in_top_k", {{"k", std::int64_t{2}}}),
                    .arguments = {{integers({batch}, DType::int32, -1, 4), DType::int32}, {apart({batch, 4})}},
                    .outputs = {DType::boolean},
                    .plain = [](const TensorList& v) {
                      mezzo::Tensor out(v[0].shape(), DType::boolean);
                      const Numbers targets = v[0].to_doubles();
                      for (std::int64_t i = 0; i < out.size(); ++i) {
                        const auto target = static_cast<std::int64_t>(targets[static_cast<std::size_t>(i)]);
                        if (target < 0 || target >= 4) continue;
                        const double* scores = v[1].data<double>() + i * 4;
                        const auto greater =
                            std::count_if(scores, scores + 4, [&](double x) { return x > scores[target]; });
                        out.mutable_data<bool>()[i] = greater < 2;
                      }
                      return TensorList{out};
                    }});
  }
  for (const bool right : {false, true}) {
    for (const auto& [size, values] : {std::pair{std::int64_t{9}, Shape{4, 3}}, {0, Shape{3}}, {5, Shape{0, 3}}}) {
      rows.push_back({.op = "searchsorted",
                      .note = std::to_string(size) + (right ? " right" : " left"),
                      .call = inserted("searchsorted", {{"right", right}}),
                      .arguments = {{plain_along(small_integers({size}, DType::float64), 0, size,
                                                 [](Numbers x) {
                                                   std::sort(x.begin(), x.end());
                                                   return x;
                                                 })},
                                    {small_integers(values, DType::float64, 7)}},
                      .outputs = {DType::int64},
                      .plain = [right](const TensorList& v) {
                        const Numbers sequence = v[0].to_doubles();
                        return TensorList{map(v[1], [&](double x) {
                                            return static_cast<double>(
                                                std::count_if(sequence.begin(), sequence.end(),
                                                              [&](double y) { return right ? y <= x : y < x; }));
                                          }).cast(DType::int64)};
                      }});
    }
  }
  return rows;
}

inline std::vector<OpRow> array_rows() {
  std::vector<OpRow> rows = fold_rows();
  for (const auto& more : {scan_rows(), sorting_rows()}) rows.insert(rows.end(), more.begin(), more.end());
  rows.push_back(flip_row({3, 4}, {1}));
  rows.push_back(flip_row({2, 3, 4}, {0, 2}));
  rows.push_back(flip_row({2, 3, 4}, {0, 1}));
  rows.push_back(flip_row({40}, {0}));
  rows.push_back(flip_row({0, 3}, {1}));
  return rows;
}

}  // namespace mezzo_tests
