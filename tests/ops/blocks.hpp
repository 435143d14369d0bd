#pragma once

#include "ops/plain.hpp"

// Rows of concat, split, slice, pad and where.
namespace mezzo_tests {

inline OpRow slice_row(const mezzo::Shape& shape, const mezzo::SliceOptions& options, const mezzo::Shape& to) {
  const auto plain = [options, to](const TensorList& v) {
    mezzo::Tensor out(to, mezzo::DType::float64);
    for_each_index(to, [&](std::size_t flat, const mezzo::Shape& index) {
      mezzo::Shape from = index;
      for (std::size_t i = 0; i < from.size(); ++i) from[i] += options.starts[i];
      std::int64_t place = 0;
      for (std::size_t i = 0; i < from.size(); ++i) place = place * v[0].shape()[i] + from[i];
      out.mutable_data<double>()[flat] = v[0].data<double>()[place];
    });
    return TensorList{out};
  };
  return {.op = "slice",
          .note = mezzo::to_string(shape) + " from " + mezzo::to_string(options.starts) + " to " + mezzo::to_string(to),
          .call = [options](const mezzo::Values& v) { return mezzo::Values{mezzo::slice(v[0], options)}; },
          .arguments = {{uniform(shape, -1, 1)}},
          .outputs = {Role::varied()},
          .plain = plain,
          .differentiable = {0},
          .exact_on_integers = true};
}

inline OpRow pad_row(const mezzo::Shape& shape, const mezzo::PadOptions& options) {
  const auto plain = [options](const TensorList& v) {
    mezzo::Shape to = v[0].shape();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += options.before[i] + options.after[i];
    mezzo::Tensor out(to, mezzo::DType::float64);
    for_each_index(v[0].shape(), [&](std::size_t flat, const mezzo::Shape& index) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < to.size(); ++i) place = place * to[i] + index[i] + options.before[i];
      out.mutable_data<double>()[place] = v[0].data<double>()[flat];
    });
    return TensorList{out};
  };
  return {.op = "pad",
          .note = mezzo::to_string(shape) + " by " + mezzo::to_string(options.before) + " and " +
                  mezzo::to_string(options.after),
          .call = [options](const mezzo::Values& v) { return mezzo::Values{mezzo::pad(v[0], options)}; },
          .arguments = {{uniform(shape, -1, 1)}},
          .outputs = {Role::varied()},
          .plain = plain,
          .differentiable = {0},
          .exact_on_integers = true};
}

inline mezzo::Tensor plain_concat(const TensorList& v, std::size_t axis) {
  mezzo::Shape to = v[0].shape();
  for (std::size_t i = 1; i < v.size(); ++i) to[axis] += v[i].shape()[axis];
  mezzo::Tensor out(to, mezzo::DType::float64);
  for_each_index(to, [&](std::size_t flat, const mezzo::Shape& index) {
    mezzo::Shape place = index;
    std::size_t i = 0;
    while (place[axis] >= v[i].shape()[axis]) place[axis] -= v[i++].shape()[axis];
    std::int64_t from = 0;
    for (std::size_t k = 0; k < place.size(); ++k) from = from * v[i].shape()[k] + place[k];
    out.mutable_data<double>()[flat] = v[i].data<double>()[from];
  });
  return out;
}

inline OpRow concat_row(const std::vector<mezzo::Shape>& shapes, std::int64_t axis, std::size_t plain_axis) {
  OpRow row{
      .op = "concat",
      .note = std::to_string(shapes.size()) + " of " + mezzo::to_string(shapes[0]) + " along " + std::to_string(axis),
      .call = [axis](const mezzo::Values& v) { return mezzo::Values{mezzo::concat(v, axis)}; },
      .arguments = {},
      .outputs = {Role::varied()},
      .plain = [plain_axis](const TensorList& v) { return TensorList{plain_concat(v, plain_axis)}; },
      .exact_on_integers = true};
  for (const mezzo::Shape& shape : shapes) {
    row.differentiable.push_back(row.arguments.size());
    row.arguments.push_back({uniform(shape, -1, 1, 1 + row.arguments.size())});
  }
  return row;
}

inline OpRow split_row(const mezzo::Shape& shape, const mezzo::detail::Ints& sections, const mezzo::Shape& sizes,
                       std::int64_t axis, std::size_t plain_axis) {
  const auto plain = [sizes, plain_axis](const TensorList& v) {
    TensorList out;
    std::int64_t start = 0;
    for (const std::int64_t size : sizes) {
      mezzo::Shape to = v[0].shape();
      to[plain_axis] = size;
      mezzo::Tensor part(to, mezzo::DType::float64);
      for_each_index(to, [&](std::size_t flat, mezzo::Shape index) {
        index[plain_axis] += start;
        part.mutable_data<double>()[flat] = at(v[0], index);
      });
      out.push_back(part);
      start += size;
    }
    return out;
  };
  return {.op = "split",
          .note = mezzo::to_string(shape) + " to " + mezzo::to_string(sizes) + " along " + std::to_string(axis),
          .call = [sections, axis](const mezzo::Values& v) { return mezzo::split(v[0], sections, axis); },
          .arguments = {{uniform(shape, -1, 1)}},
          .outputs = std::vector<Role>(sizes.size(), Role::varied()),
          .plain = plain,
          .differentiable = {0},
          .exact_on_integers = true};
}

inline OpRow where_row(const mezzo::Shape& condition, const mezzo::Shape& a, const mezzo::Shape& b) {
  const auto plain = [](const TensorList& v) {
    const mezzo::Tensor chosen = zip(v[0], v[1], [](double c, double x) { return c != 0 ? x : 0; });
    const mezzo::Tensor rest = zip(v[0], v[2], [](double c, double x) { return c != 0 ? 0 : x; });
    return TensorList{zip(chosen, rest, [](double x, double y) { return x + y; })};
  };
  return {.op = "where",
          .note = mezzo::to_string(condition) + " of " + mezzo::to_string(a) + " and " + mezzo::to_string(b),
          .call = [](const mezzo::Values& v) { return mezzo::Values{mezzo::where(v[0], v[1], v[2])}; },
          .arguments = {{integers(condition, mezzo::DType::boolean, 0, 1, 3), mezzo::DType::boolean},
                        {uniform(a, -1, 1, 1)},
                        {uniform(b, -1, 1, 2)}},
          .outputs = {Role::varied()},
          .plain = plain,
          .differentiable = {1, 2},
          .depth = 12,  // of its gradients
          .exact_on_integers = true};
}

inline std::vector<OpRow> block_rows() {
  return {slice_row({6}, {{2}, {3}}, {3}),
          slice_row({3, 4, 5}, {{1, 0, 2}, {2, -1, 3}}, {2, 4, 3}),
          slice_row({3, 4, 5}, {{0, 1, 0}, {-1, 2, -1}}, {3, 2, 5}),
          slice_row({3, 4, 5}, {{2, 0, 0}, {1, -1, -1}}, {1, 4, 5}),
          slice_row({3, 4}, {{0, 0}, {-1, -1}}, {3, 4}),
          slice_row({}, {}, {}),
          slice_row({0, 4}, {{0, 1}, {-1, 2}}, {0, 2}),
          slice_row({3, 4}, {{1, 4}, {2, 0}}, {2, 0}),
          slice_row({3, 4}, {{3, 0}, {-1, -1}}, {0, 4}),
          pad_row({0, 3}, {{2, 0}, {0, 1}}),
          pad_row({2, 0, 2}, {{0, 0, 0}, {0, 0, 3}}),
          pad_row({5}, {{2}, {1}}),
          pad_row({2, 3, 4}, {{0, 1, 0}, {0, 2, 0}}),
          pad_row({2, 3, 4, 2}, {{0, 1, 2, 0}, {0, 0, 1, 0}}),
          pad_row({2, 3}, {{1, 0}, {0, 2}}),
          pad_row({2, 3}, {{0, 0}, {0, 0}}),
          concat_row({{2, 3}, {4, 3}}, 0, 0),
          concat_row({{2, 3}, {2, 1}, {2, 2}}, -1, 1),
          concat_row({{2, 3, 2}, {2, 1, 2}}, 1, 1),
          concat_row({{3}}, 0, 0),
          concat_row({{0, 3}, {4, 3}, {0, 3}}, 0, 0),
          concat_row({{2, 0}, {2, 0}}, 0, 0),
          split_row({3, 6}, 3, {2, 2, 2}, -1, 1),
          split_row({5, 2, 3}, {1, 4}, {1, 4}, 0, 0),
          split_row({2, 5, 3}, {2, 3}, {2, 3}, 1, 1),
          split_row({4}, 1, {4}, 0, 0),
          split_row({0, 6}, 3, {2, 2, 2}, -1, 1),
          split_row({2, 3}, {0, 3}, {0, 3}, 1, 1),
          where_row({0, 1}, {3}, {}),
          where_row({3, 4}, {3, 4}, {3, 4}),
          where_row({3, 1}, {4}, {}),
          where_row({}, {3, 4}, {3, 1}),
          where_row({2, 3, 4}, {1, 4}, {3, 4})};
}

inline std::vector<Refusal> block_refusals() {
  using mezzo::DType;
  using mezzo::ShapeError;
  using mezzo::Tensor;
  using mezzo::ValueError;
  const auto slice = [](const mezzo::SliceOptions& options) {
    return [options] { mezzo::slice(Tensor({2, 3}), options); };
  };
  const auto pad = [](const mezzo::PadOptions& options) { return [options] { mezzo::pad(Tensor({2, 3}), options); }; };
  return {
      refusal<ShapeError>("slice", "[slice] starts must hold a number for each axis of (2, 3); got (0,)",
                          slice({{0}, {1, 1}})),
      refusal<ShapeError>("slice", "[slice] sizes must hold a number for each axis of (2, 3); got (1, 1, 1)",
                          slice({{0, 0}, {1, 1, 1}})),
      refusal<ShapeError>("slice", "[slice] input axis 1 has no 3 elements from 1 on; got shape (2, 3)",
                          slice({{0, 1}, {2, 3}})),
      refusal<ShapeError>("slice", "[slice] input axis 0 has no elements from 3 on; got shape (2, 3)",
                          slice({{3, 0}, {-1, 3}})),
      refusal<ShapeError>("slice", "[slice] input axis 0 has no 1 elements from -1 on; got shape (2, 3)",
                          slice({{-1, 0}, {1, 3}})),
      refusal<ShapeError>("split", "[split] sections (2,) must make up input axis 1; got shape (2, 3)",
                          [] {
                            mezzo::split(Tensor({2, 3}), 2);
                          }),
      refusal<ShapeError>("split", "[split] sections (1, 1) must make up input axis 1; got shape (2, 3)",
                          [] {
                            mezzo::split(Tensor({2, 3}), {1, 1});
                          }),
      refusal<ShapeError>("split", "[split] sections (-1, 4) must make up input axis 1; got shape (2, 3)",
                          [] {
                            mezzo::split(Tensor({2, 3}), {-1, 4});
                          }),
      refusal<ShapeError>("split", "[split] axis must lie in [-2, 2); got 2",
                          [] {
                            mezzo::split(Tensor({2, 3}), 1, 2);
                          }),
      refusal<ShapeError>("pad", "[pad] after must hold a number for each axis of (2, 3); got (1,)",
                          pad({{0, 0}, {1}})),
      refusal<ValueError>("pad", "[pad] before must not be negative; got (0, -1)", pad({{0, -1}, {0, 0}})),
      refusal<ValueError>("concat", "[concat] takes at least one input; got 0", [] { mezzo::concat({}); }),
      refusal<ShapeError>("concat", "[concat] axis must lie in [-2, 2); got 2",
                          [] {
                            mezzo::concat({Tensor({2, 3}), Tensor({2, 3})}, 2);
                          }),
      refusal<ShapeError>("concat", "[concat] inputs must have equal sizes on all axes except 1; got (2, 3) and (3, 3)",
                          [] {
                            mezzo::concat({Tensor({2, 3}), Tensor({3, 3})});
                          }),
      refusal<ShapeError>("concat", "[concat] inputs must have equal sizes on all axes except 1; got (2, 3) and (2,)",
                          [] {
                            mezzo::concat({Tensor({2, 3}), Tensor({2})});
                          }),
      refusal<mezzo::DTypeError>("where", "[where] the condition must be bool; got float32",
                                 [] { mezzo::where(Tensor({2}), Tensor({2}), Tensor({2})); }),
      refusal<ShapeError>("where", "[where] shapes must be equal or 1 on axis -1; got (2,) and (3,)",
                          [] { mezzo::where(Tensor({2}, DType::boolean), Tensor({3}), Tensor({3})); })};
}

}  // namespace mezzo_tests
