#pragma once

#include <cmath>
#include <limits>

#include "ops/arrays.hpp"

// Rows of ops that read and write elements by index, and what these and those of arrays.hpp refuse.
namespace mezzo_tests {

// Sums updates (outer, indices, inner) into zeros (outer, size, inner); or takes slices, with `updates` undefined.
inline std::vector<OpRow> index_rows() {
  using mezzo::DType;
  using mezzo::Shape;
  using mezzo::Tensor;
  std::vector<OpRow> rows;
  struct Case {
    Shape shape;
    std::int64_t axis, count;
    DType dtype;
  };
  for (const Case& c :
       {Case{{5, 3}, 0, 4, DType::int32}, Case{{2, 4, 3}, 1, 7, DType::int64}, Case{{3, 6}, 1, 20, DType::int8},
        Case{{6}, 0, 9, DType::uint8}, Case{{5, 3}, 0, 0, DType::int32}, Case{{4, 0}, 0, 3, DType::int16},
        Case{{3, 40}, 0, 12, DType::int64}}) {
    const auto at = static_cast<std::size_t>(c.axis);
    const double size = static_cast<double>(c.shape[at]);
    Shape taken = c.shape;
    taken[at] = c.count;
    const double low = c.dtype == DType::uint8 ? 0 : -size;
    const std::string note = mezzo::to_string(c.shape) + " along " + std::to_string(c.axis);
    const auto place = [size](double index) { return static_cast<std::size_t>(index < 0 ? index + size : index); };
    const Tensor line = integers({c.count}, c.dtype, low, size - 1), many = integers(taken, c.dtype, low, size - 1, 3);
    const mezzo::Attributes attributes{{"axis", c.axis}, {"negative", true}};
    const double depth = static_cast<double>(c.count);
    // For each line along the axis, function(line, indices of that line).
    const auto lines = [=](const Tensor& x, const Tensor& indices, const Shape& to,
                           const std::function<Numbers(const Numbers&, const Numbers&)>& function) {
      const Numbers all = indices.to_doubles();
      const bool shared = indices.shape().size() == 1 && x.shape().size() != 1;
      Tensor list = shared ? Tensor() : indices.cast(DType::float64);
      std::vector<Numbers> own;
      if (!shared) {
        for_each_line(indices.shape(), at, [&](std::int64_t start, std::int64_t step, std::int64_t count) {
          Numbers one;
          for (std::int64_t i = 0; i < count; ++i) one.push_back(all[static_cast<std::size_t>(start + i * step)]);
          own.push_back(one);
        });
      }
      std::size_t next = 0;
      return plain_along(x, at, to[at],
                         [&](const Numbers& x_line) { return function(x_line, shared ? all : own[next++]); });
    };
    const auto taking = [=](const Numbers& x, const Numbers& indices) {
      Numbers out;
      for (const double index : indices) out.push_back(x[place(index)]);
      return out;
    };
    const auto summing = [=](const Numbers& x, const Numbers& indices) {
      Numbers out(static_cast<std::size_t>(size), 0.0);
      for (std::size_t i = 0; i < x.size(); ++i) out[place(indices[i])] += x[i];
      return out;
    };
    rows.push_back({.op = "take",
                    .note = note,
                    .call = inserted("take", attributes),
                    .arguments = {{uniform(c.shape, -1, 1)}, {line, c.dtype}},
                    .outputs = {Role::varied()},
                    .plain = [=](const TensorList& v) { return TensorList{lines(v[0], v[1], taken, taking)}; },
                    .differentiable = {0},
                    .depth = depth,
                    .exact_on_integers = true});
    rows.push_back(
        {.op = "take_along_axis",
         .note = note,
         .call = [=](const mezzo::Values& v) { return mezzo::Values{mezzo::take_along_axis(v[0], v[1], c.axis)}; },
         .arguments = {{uniform(c.shape, -1, 1)}, {many, c.dtype}},
         .outputs = {Role::varied()},
         .plain = [=](const TensorList& v) { return TensorList{lines(v[0], v[1], taken, taking)}; },
         .differentiable = {0},
         .depth = depth,
         .exact_on_integers = true});
    for (const bool each : {false, true}) {
      mezzo::Attributes sums = each ? mezzo::Attributes{{"axis", c.axis}} : attributes;
      sums.set("size", c.shape[at]);
      const std::string op = each ? "scatter_add_along_axis" : "scatter_add";
      rows.push_back({.op = op,
                      .note = note,
                      .call =
                          [=](const mezzo::Values& v) {
                            mezzo::Attributes all = sums;
                            all.set("dtype", v[1].dtype());
                            return insert(mezzo::find_op(op), v, all);
                          },
                      .arguments = {{each ? many : line, c.dtype}, {uniform(taken, -1, 1)}},
                      .outputs = {Role::varied()},
                      .plain = [=](const TensorList& v) { return TensorList{lines(v[1], v[0], c.shape, summing)}; },
                      .differentiable = {1},
                      .depth = depth,
                      .exact_on_integers = true,
                      .internal = true});
    }
  }
  for (const auto& [table, count] : {std::pair{Shape{5, 3}, 3}, {Shape{6}, 4}, {Shape{4, 0}, 2}, {Shape{3, 2}, 0}}) {
    Shape updates = table;
    updates[0] = count;
    const Tensor indices = integers({count}, DType::int32, 0, static_cast<double>(table[0]) - 1, 5);
    const std::int64_t inner = mezzo::element_count(Shape(table.begin() + 1, table.end()));
    const std::string note = mezzo::to_string(table) + " by " + std::to_string(count);
    rows.push_back({.op = "scatter_update",
                    .note = note,
                    .call = inserted("scatter_update"),
                    .arguments = {{uniform(table, -1, 1)}, {indices, DType::int32}, {uniform(updates, -1, 1, 2)}},
                    .outputs = {Role::varied()},
                    .plain =
                        [inner](const TensorList& v) {
                          Tensor out = v[0].copy();
                          const Numbers at = v[1].to_doubles();
                          for (std::int64_t i = 0; i < v[2].size(); ++i) {
                            const auto row = static_cast<std::int64_t>(at[static_cast<std::size_t>(i / inner)]);
                            out.mutable_data<double>()[row * inner + i % inner] = v[2].data<double>()[i];
                          }
                          return TensorList{out};
                        },
                    .differentiable = {0, 2},
                    .exact_on_integers = true});
    const std::int64_t segments = 2;  // each with rows: one without has -infinity, and no derivative
    rows.push_back(
        {.op = "segment_max",
         .note = note,
         .call = inserted("segment_max", {{"size", segments}}),
         .arguments = {{apart(table)},
                       {map(mezzo::arange(0, table[0], 1, DType::float64), [](double i) { return std::fmod(i, 2.0); })
                            .cast(DType::int64),
                        DType::int64}},
         .outputs = {Role::varied()},
         .plain =
             [inner](const TensorList& v) {
               Shape to = v[0].shape();
               to[0] = segments;
               Tensor out(to, DType::float64);
               std::fill_n(out.mutable_data<double>(), out.size(), -std::numeric_limits<double>::infinity());
               const Numbers at = v[1].to_doubles();
               for (std::int64_t i = 0; i < v[0].size(); ++i) {
                 const auto row = static_cast<std::int64_t>(at[static_cast<std::size_t>(i / inner)]);
                 double& largest = out.mutable_data<double>()[row * inner + i % inner];
                 largest = std::max(largest, v[0].data<double>()[i]);
               }
               return TensorList{out};
             },
         .differentiable = {0},
         .exact_on_integers = true});
  }
  return rows;
}

inline std::vector<Refusal> array_refusals() {
  using mezzo::DType;
  using mezzo::DTypeError;
  using mezzo::ShapeError;
  using mezzo::Tensor;
  using mezzo::ValueError;
  const Tensor x({2, 3}), one({2}, std::vector<std::int32_t>{0, 3});
  std::vector<Refusal> out;
  for (const FoldKind& kind : fold_kinds()) {
    const std::string op = kind.op;
    const auto function = kind.function;
    out.push_back(refusal<ShapeError>(op, "[" + op + "] axis must lie in [-2, 2); got 2", [=] { function(x, {{2}}); }));
    out.push_back(refusal<ValueError>(op, "[" + op + "] axes must differ; got (1, -1)", [=] {
      function(x, {{1, -1}});
    }));
  }
  for (const std::string op : {"max", "min"}) {
    out.push_back(refusal<ShapeError>(op, "[" + op + "] needs an element along axes (0,); got shape (0, 3)", [op] {
      (op == "max" ? mezzo::max : mezzo::min)(Tensor({0, 3}), {{0}});
    }));
  }
  out.push_back(refusal<ShapeError>("argmin", "[argmin] input axis 1 must be at least 1; got shape (2, 0)", [] {
    mezzo::argmin(Tensor({2, 0}));
  }));
  for (const std::string op : {"cumsum", "cumprod"}) {
    out.push_back(refusal<ShapeError>(op, "[" + op + "] axis must lie in [-2, 2); got 2",
                                      [op, x] { (op == "cumsum" ? mezzo::cumsum : mezzo::cumprod)(x, 2); }));
  }
  out.push_back(
      refusal<ShapeError>("cumprod_gradient", "[cumprod_gradient] the cotangent must have shape (2, 3); got (2,)", [x] {
        inserted("cumprod_gradient", {{"axis", std::int64_t{0}}})({x, Tensor({2})});
      }));
  out.push_back(refusal<ShapeError>("flip", "[flip] axis must lie in [-2, 2); got -3", [x] { mezzo::flip(x, -3); }));
  out.push_back(
      refusal<ShapeError>("argsort", "[argsort] axis must lie in [-2, 2); got 2", [x] { mezzo::argsort(x, 2); }));
  out.push_back(refusal<ValueError>("top_k", "[top_k] k must be in [1, 3] (size of the last axis); got 4",
                                    [x] { mezzo::top_k(x, 4); }));
  out.push_back(refusal<ShapeError>(
      "in_top_k", "[in_top_k] targets must be (batch,) and predictions (batch, classes); got (3,) and (2, 3)",
      [x] { mezzo::in_top_k(Tensor({3}, DType::int32), x, 1); }));
  out.push_back(refusal<ShapeError>("searchsorted",
                                    "[searchsorted] the sorted sequence must have 1 axis; got shape (2, 3)",
                                    [x] { mezzo::searchsorted(x, x); }));
  out.push_back(refusal<mezzo::NameError>("searchsorted",
                                          "[searchsorted] unknown side \"mid\"; valid names: left, right",
                                          [] { mezzo::searchsorted(Tensor({2}), Tensor({2}), "mid"); }));
  out.push_back(refusal<ValueError>("take", "[take] indices must be in [-2, 2); got 3 at index 1",
                                    [=] { mezzo::take(x, one, 0); }));
  out.push_back(refusal<DTypeError>("take", "[take] indices must be integers; got float32",
                                    [=] { mezzo::take(x, Tensor({2}), 0); }));
  out.push_back(
      refusal<ValueError>("take_along_axis", "[take_along_axis] indices must be in [-3, 3); got 3 at index 1", [=] {
        mezzo::take_along_axis(x, one.reshape({2, 1}), 1);
      }));
  out.push_back(refusal<ShapeError>(
      "take_along_axis",
      "[take_along_axis] indices must have the input's sizes on all axes except 1; got (4, 1) and (2, 3)", [=] {
        mezzo::take_along_axis(x, Tensor({4, 1}, DType::int32), 1);
      }));
  out.push_back(refusal<ValueError>("scatter_add", "[scatter_add] indices must be in [0, 2); got 3 at index 1",
                                    [=] { mezzo::segment_sum(x, one, 2); }));
  out.push_back(refusal<ShapeError>(
      "scatter_add_along_axis", "[scatter_add_along_axis] the cotangent must have shape (2,); got (2, 3)", [=] {
        inserted("scatter_add_along_axis",
                 {{"axis", std::int64_t{0}}, {"size", std::int64_t{4}}, {"dtype", DType::float32}})({one, x});
      }));
  out.push_back(refusal<ShapeError>("scatter_update", "[scatter_update] updates must have shape (2,); got (3,)", [=] {
    mezzo::scatter_update(Tensor({4}), Tensor({2, 1}, DType::int32), Tensor({3}));
  }));
  out.push_back(refusal<ValueError>("segment_max", "[segment_max] segments must be in [0, 3); got 3 at index 1",
                                    [=] { mezzo::segment_max(x, one, 3); }));
  return out;
}

}  // namespace mezzo_tests
