#pragma once

#include <algorithm>

#include "ops/plain.hpp"

// Reductions, and ops that move elements.
namespace mezzo_tests {

inline bool holds_axis(const mezzo::Shape& axes, std::size_t axis) {
  return axes.empty() || std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

// Sums over the axes (none: all) divided by `divisor(number of terms)`.
inline mezzo::Tensor plain_sum(const mezzo::Tensor& x, const mezzo::Shape& axes, bool keepdims, bool mean) {
  mezzo::Shape kept = x.shape(), squeezed;
  for (std::size_t axis = 0; axis < kept.size(); ++axis) {
    if (holds_axis(axes, axis)) {
      kept[axis] = 1;
    } else {
      squeezed.push_back(kept[axis]);
    }
  }
  mezzo::Tensor out(kept, mezzo::DType::float64);
  const mezzo::Shape strides = mezzo::detail::row_major_strides(kept);
  for_each_index(x.shape(), [&](std::size_t, const mezzo::Shape& index) {
    std::int64_t target = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) target += kept[axis] == 1 ? 0 : index[axis] * strides[axis];
    out.mutable_data<double>()[target] += at(x, index);
  });
  const double count = mean ? static_cast<double>(x.size()) / static_cast<double>(out.size()) : 1;
  out = map(out, [count](double sum) { return sum / count; });
  return keepdims ? out : out.reshape(squeezed);
}

// `plain_axes` are the axes as they count from the front.
inline OpRow reduction_row(bool mean, const mezzo::Shape& shape, const mezzo::ReduceOptions& options,
                           const mezzo::Shape& plain_axes) {
  const auto function = mean ? mezzo::mean : mezzo::sum;
  return {
      .op = mean ? "mean" : "sum",
      .note = mezzo::to_string(shape) + " over " + mezzo::to_string(options.axes) + (options.keepdims ? ", kept" : ""),
      .call = [=](const mezzo::Values& v) { return mezzo::Values{function(v[0], options)}; },
      .arguments = {{uniform(shape, -1, 1)}},
      .outputs = {Role::varied()},
      .plain = [=](const TensorList& v) { return TensorList{plain_sum(v[0], plain_axes, options.keepdims, mean)}; },
      .differentiable = {0},
      .depth = static_cast<double>(mezzo::element_count(shape)),
      .exact_on_integers = !mean};
}

inline std::vector<OpRow> reduction_rows() {
  struct Kind {
    mezzo::Shape shape, axes, plain_axes;
    bool keepdims = false;
  };
  const std::vector<Kind> kinds{{{3, 4}, {}, {}},
                                {{3, 4}, {0}, {0}},
                                {{3, 4}, {-1}, {1}, true},
                                {{2, 3, 4}, {1}, {1}},
                                {{2, 3, 4, 5}, {2, 0}, {0, 2}},
                                {{2, 3, 4}, {}, {}, true},
                                {{}, {}, {}},
                                {{40, 33}, {0}, {0}},
                                {{5, 129}, {1}, {1}},
                                {{0, 3}, {}, {}},
                                {{0, 3}, {0}, {0}},
                                {{0, 3}, {1}, {1}},
                                {{3, 0}, {-1}, {1}, true},
                                {{2, 0, 3}, {0, 1}, {0, 1}}};
  std::vector<OpRow> rows;
  for (const bool mean : {false, true}) {
    for (const Kind& kind : kinds) {
      rows.push_back(reduction_row(mean, kind.shape, {kind.axes, kind.keepdims}, kind.plain_axes));
    }
  }
  for (OpRow& row : rows) {
    const mezzo::Tensor& x = row.arguments[0].numbers;
    if (row.op == "mean" && x.size() == 0) row.differentiable = {};  // the means are NaN, or there are none
  }
  for (const mezzo::DType dtype : {mezzo::DType::boolean, mezzo::DType::uint8, mezzo::DType::int8, mezzo::DType::int16,
                                   mezzo::DType::int32, mezzo::DType::int64}) {
    for (const mezzo::Shape& shape : {mezzo::Shape{300, 5}, mezzo::Shape{0, 5}}) {
      OpRow row = reduction_row(false, shape, {{0}, false}, {0});
      row.note = std::string("of ") + dtype_name(dtype) + " " + mezzo::to_string(shape);
      const double low = dtype == mezzo::DType::boolean || dtype == mezzo::DType::uint8 ? 0 : -100;
      row.arguments = {{integers(shape, dtype, low, dtype == mezzo::DType::boolean ? 2 : 128), dtype}};
      row.outputs = {mezzo::DType::int64};
      row.plain = [](const TensorList& v) {
        return TensorList{plain_sum(v[0].cast(mezzo::DType::float64), {0}, false, false).cast(mezzo::DType::int64)};
      };
      row.differentiable = {};
      rows.push_back(row);
    }
  }
  return rows;
}

inline OpRow argmax_row(const mezzo::Shape& shape, std::int64_t axis) {
  const auto plain_axis = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
  const auto plain = [plain_axis](const TensorList& v) {
    const mezzo::Shape& from = v[0].shape();
    mezzo::Shape to = from;
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(plain_axis));
    mezzo::Tensor out(to, mezzo::DType::int64);
    for_each_index(to, [&](std::size_t flat, const mezzo::Shape& index) {
      mezzo::Shape place = index;
      place.insert(place.begin() + static_cast<std::ptrdiff_t>(plain_axis), 0);
      std::int64_t best = 0;
      double largest = at(v[0], place);
      for (std::int64_t i = 1; i < from[plain_axis]; ++i) {
        place[plain_axis] = i;
        if (at(v[0], place) > largest) {
          largest = at(v[0], place);
          best = i;
        }
      }
      out.mutable_data<std::int64_t>()[flat] = best;
    });
    return TensorList{out};
  };
  return {.op = "argmax",
          .note = mezzo::to_string(shape) + " along " + std::to_string(axis),
          .call = [axis](const mezzo::Values& v) { return mezzo::Values{mezzo::argmax(v[0], axis)}; },
          .arguments = {{small_integers(shape, mezzo::DType::float64)}},  // with equals
          .outputs = {mezzo::DType::int64},
          .plain = plain};
}

inline OpRow transpose_row(const mezzo::Shape& shape, const mezzo::Shape& permutation) {
  const auto plain = [permutation](const TensorList& v) {
    mezzo::Shape axes = permutation;
    for (std::size_t i = v[0].shape().size(); permutation.empty() && i-- > 0;) {
      axes.push_back(static_cast<std::int64_t>(i));
    }
    mezzo::Shape to;
    for (const auto axis : axes) to.push_back(v[0].shape()[static_cast<std::size_t>(axis)]);
    mezzo::Tensor out(to, mezzo::DType::float64);
    for_each_index(to, [&](std::size_t flat, const mezzo::Shape& index) {
      mezzo::Shape from(index.size());
      for (std::size_t i = 0; i < axes.size(); ++i) from[static_cast<std::size_t>(axes[i])] = index[i];
      out.mutable_data<double>()[flat] = at(v[0], from);
    });
    return TensorList{out};
  };
  return {.op = "transpose",
          .note = mezzo::to_string(shape) + " by " + mezzo::to_string(permutation),
          .call = [permutation](const mezzo::Values& v) { return mezzo::Values{mezzo::transpose(v[0], permutation)}; },
          .arguments = {{uniform(shape, -1, 1)}},
          .outputs = {Role::varied()},
          .plain = plain,
          .differentiable = {0},
          .exact_on_integers = true};
}

inline OpRow reshape_row(const mezzo::Shape& shape, const mezzo::Shape& to, const mezzo::Shape& known) {
  return {.op = "reshape",
          .note = mezzo::to_string(shape) + " to " + mezzo::to_string(to),
          .call = [to](const mezzo::Values& v) { return mezzo::Values{mezzo::reshape(v[0], to)}; },
          .arguments = {{uniform(shape, -1, 1)}},
          .outputs = {Role::varied()},
          .plain = [known](const TensorList& v) { return TensorList{mezzo::Tensor(known, v[0].to_doubles())}; },
          .differentiable = {0},
          .exact_on_integers = true};
}

inline OpRow broadcast_row(const mezzo::Shape& shape, const mezzo::Shape& to) {
  return {
      .op = "broadcast_to",
      .note = mezzo::to_string(shape) + " to " + mezzo::to_string(to),
      .call = [to](const mezzo::Values& v) { return mezzo::Values{mezzo::broadcast_to(v[0], to)}; },
      .arguments = {{uniform(shape, -1, 1)}},
      .outputs = {Role::varied()},
      .plain =
          [to](const TensorList& v) {
            return TensorList{zip(v[0], mezzo::Tensor(to, mezzo::DType::float64), [](double x, double) { return x; })};
          },
      .differentiable = {0},
      .depth = static_cast<double>(mezzo::element_count(to)),  // of its gradient
      .exact_on_integers = true};
}

inline std::vector<OpRow> movement_rows() {
  std::vector<OpRow> rows = reduction_rows();
  rows.push_back(argmax_row({6, 5}, -1));
  rows.push_back(argmax_row({6, 5}, 0));
  rows.push_back(argmax_row({3, 4, 2}, 1));
  rows.push_back(argmax_row({0, 4}, 1));
  rows.push_back(argmax_row({4, 0, 2}, 0));
  rows.push_back(transpose_row({3, 4}, {}));
  rows.push_back(transpose_row({2, 3, 4}, {}));
  rows.push_back(transpose_row({2, 3, 4, 5}, {0, 3, 1, 2}));
  rows.push_back(transpose_row({2, 0, 4}, {}));
  rows.push_back(reshape_row({2, 6}, {3, 4}, {3, 4}));
  rows.push_back(reshape_row({0, 6}, {2, 0, 3}, {2, 0, 3}));
  rows.push_back(reshape_row({0, 6}, {-1, 4}, {0, 4}));
  rows.push_back(reshape_row({2, 6}, {2, -1, 2}, {2, 3, 2}));
  rows.push_back(reshape_row({1}, {}, {}));
  rows.push_back(broadcast_row({4}, {3, 4}));
  rows.push_back(broadcast_row({3, 1}, {3, 4}));
  rows.push_back(broadcast_row({}, {2, 2}));
  rows.push_back(broadcast_row({2, 3}, {2, 3}));
  rows.push_back(broadcast_row({1, 3}, {0, 3}));
  rows.push_back(broadcast_row({0, 1}, {2, 0, 3}));
  return rows;
}

inline std::vector<Refusal> movement_refusals() {
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const auto reduction = [](const char* op, auto function) {
    const std::string where = "[" + std::string(op) + "]";
    return std::vector<Refusal>{refusal<ShapeError>(op, where + " axis must lie in [-2, 2); got 2",
                                                    [function] {
                                                      function(Tensor({2, 3}), mezzo::ReduceOptions{{2}, false});
                                                    }),
                                refusal<mezzo::ValueError>(op, where + " axes must differ; got (1, -1)", [function] {
                                  function(Tensor({2, 3}), mezzo::ReduceOptions{{1, -1}, false});
                                })};
  };
  std::vector<Refusal> out = reduction("sum", mezzo::sum);
  for (const Refusal& entry : reduction("mean", mezzo::mean)) out.push_back(entry);
  out.push_back(refusal<ShapeError>("argmax", "[argmax] axis must lie in [-1, 1); got -2",
                                    [] { mezzo::argmax(Tensor({3}), -2); }));
  out.push_back(refusal<ShapeError>("argmax", "[argmax] input axis 1 must be at least 1; got shape (2, 0)", [] {
    mezzo::argmax(Tensor({2, 0}));
  }));
  out.push_back(refusal<ShapeError>("reshape", "[reshape] cannot reshape (2, 3) to (4,)", [] {
    mezzo::reshape(Tensor({2, 3}), {4});
  }));
  out.push_back(refusal<ShapeError>("reshape", "[reshape] cannot reshape (2, 3) to (4, ?)", [] {
    mezzo::reshape(Tensor({2, 3}), {4, -1});
  }));
  out.push_back(refusal<ShapeError>("reshape", "[reshape] at most one size may be -1; got (?, ?)", [] {
    mezzo::reshape(Tensor({2, 3}), {-1, -1});
  }));
  out.push_back(refusal<ShapeError>("reshape", "[reshape] cannot reshape (0, 3) to (0, ?)", [] {
    mezzo::reshape(Tensor({0, 3}), {0, -1});
  }));
  const std::string once = "[transpose] permutation must hold each axis of (2, 3) once; got ";
  out.push_back(refusal<ShapeError>("transpose", once + "(0, 0)", [] { mezzo::transpose(Tensor({2, 3}), {0, 0}); }));
  out.push_back(refusal<ShapeError>("transpose", once + "(0,)", [] { mezzo::transpose(Tensor({2, 3}), {0}); }));
  out.push_back(refusal<ShapeError>("broadcast_to",
                                    "[broadcast_to] shapes must be equal or 1 on axis -1; got (3,) and (2, 4)", [] {
                                      mezzo::broadcast_to(Tensor({3}), {2, 4});
                                    }));
  out.push_back(
      refusal<ShapeError>("broadcast_to", "[broadcast_to] input 0 must broadcast to (3,); got shape (2, 3)", [] {
        mezzo::broadcast_to(Tensor({2, 3}), {3});
      }));
  return out;
}

}  // namespace mezzo_tests
