#pragma once

#include <mezzo/graph/op_registry.hpp>

#include "ops/plain.hpp"

// Rows of gather and its gradients.
namespace mezzo_tests {

inline mezzo::Shape gathered_shape(const mezzo::Shape& table, const mezzo::Shape& indices) {
  mezzo::Shape out = indices;
  out.insert(out.end(), table.begin() + 1, table.end());
  return out;
}

inline std::int64_t columns_of_table(const mezzo::Shape& table) {
  return mezzo::element_count(mezzo::Shape(table.begin() + 1, table.end()));
}

inline mezzo::Tensor plain_gather(const mezzo::Tensor& table, const mezzo::Tensor& indices) {
  mezzo::Tensor out(gathered_shape(table.shape(), indices.shape()), mezzo::DType::float64);
  const std::vector<double> rows = indices.to_doubles();
  const std::int64_t columns = columns_of_table(table.shape());
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const auto row = static_cast<std::int64_t>(rows[static_cast<std::size_t>(i / columns)]);
    out.mutable_data<double>()[i] = table.data<double>()[row * columns + i % columns];
  }
  return out;
}

inline mezzo::Tensor plain_gather_gradient(const mezzo::Shape& shape, const mezzo::Tensor& indices,
                                           const mezzo::Tensor& g) {
  mezzo::Tensor out(shape, mezzo::DType::float64);
  const std::vector<double> rows = indices.to_doubles();
  const std::int64_t columns = columns_of_table(shape);
  for (std::int64_t i = 0; i < g.size(); ++i) {
    const auto row = static_cast<std::int64_t>(rows[static_cast<std::size_t>(i / columns)]);
    out.mutable_data<double>()[row * columns + i % columns] += g.data<double>()[i];
  }
  return out;
}

// Of x, indices and g.
inline TensorList plain_add_gather_gradient(const mezzo::Shape& shape, const TensorList& operands) {
  mezzo::Tensor out = plain_gather_gradient(shape, operands[1], operands[2]);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data<double>()[i] += operands[0].data<double>()[i];
  return {out};
}

// The sums of the rows in the order in which the indices name them first, zeros after them, and each row's place.
inline TensorList plain_gather_gradient_rows(const mezzo::Shape& shape, const mezzo::Tensor& indices,
                                             const mezzo::Tensor& g) {
  const mezzo::Tensor dense = plain_gather_gradient(shape, indices, g);
  const std::int64_t columns = columns_of_table(shape);
  mezzo::Shape to = shape;
  to[0] = indices.size();
  mezzo::Tensor rows(to, mezzo::DType::float64);
  mezzo::Tensor places({shape[0]}, std::vector<std::int32_t>(static_cast<std::size_t>(shape[0]), -1));
  std::int32_t used = 0;
  for (const double index : indices.to_doubles()) {
    const auto row = static_cast<std::int64_t>(index);
    if (places.data<std::int32_t>()[row] >= 0) continue;
    for (std::int64_t c = 0; c < columns; ++c) {
      rows.mutable_data<double>()[used * columns + c] = dense.data<double>()[row * columns + c];
    }
    places.mutable_data<std::int32_t>()[row] = used++;
  }
  return {rows, places};
}

inline std::function<mezzo::Values(const mezzo::Values&)> inserted_gather_gradient(const std::string& op,
                                                                                   const mezzo::Shape& shape,
                                                                                   Role role) {
  return [=](const mezzo::Values& x) {
    return insert(mezzo::find_op(op), x, {{"shape", shape}, {"dtype", role.in(x[1].dtype())}});
  };
}

inline std::vector<OpRow> gather_rows() {
  using mezzo::DType;
  using mezzo::Shape;
  struct Case {
    Shape table, indices;
    DType dtype;
  };
  std::vector<OpRow> rows;
  for (const Case& c :
       {Case{{5, 3}, {4}, DType::int32}, Case{{7, 17}, {2, 9}, DType::int64}, Case{{6}, {2, 2}, DType::uint8},
        Case{{9, 2, 3}, {}, DType::int16}, Case{{4, 33}, {40}, DType::int8}, Case{{5, 3}, {2, 0}, DType::int32},
        Case{{4, 0}, {3}, DType::int32}, Case{{0, 3}, {0}, DType::int64}}) {
    const std::string note = mezzo::to_string(c.table) + " at " + mezzo::to_string(c.indices);
    const mezzo::Tensor indices = integers(c.indices, c.dtype, 0, static_cast<double>(c.table[0]) - 1);
    const double depth = static_cast<double>(indices.size());
    rows.push_back({.op = "gather",
                    .note = note,
                    .call = [](const mezzo::Values& v) { return mezzo::Values{mezzo::gather(v[0], v[1])}; },
                    .arguments = {{uniform(c.table, -1, 1)}, {indices, c.dtype}},
                    .outputs = {Role::varied()},
                    .plain = [](const TensorList& v) { return TensorList{plain_gather(v[0], v[1])}; },
                    .differentiable = {0},
                    .depth = depth,  // of its gradient
                    .exact_on_integers = true,
                    .internal = true});  // its rows are cast: tests of Embedding
    rows.push_back({.op = "add_gather_gradient",
                    .note = note,
                    .call = inserted("add_gather_gradient"),
                    .arguments = {{uniform(c.table, -1, 1)},
                                  {indices, c.dtype},
                                  {uniform(gathered_shape(c.table, c.indices), -1, 1)}},
                    .outputs = {Role::varied()},
                    .plain = [c](const TensorList& v) { return plain_add_gather_gradient(c.table, v); },
                    .depth = depth,
                    .exact_on_integers = true,
                    .internal = true});
    for (const Role role : {Role::varied(), Role::accumulated()}) {
      const std::string of = note + (role.is_varied() ? "" : ", wide");
      const std::vector<Argument> arguments{{indices, c.dtype}, {uniform(gathered_shape(c.table, c.indices), -1, 1)}};
      rows.push_back(
          {.op = "gather_gradient",
           .note = of,
           .call = inserted_gather_gradient("gather_gradient", c.table, role),
           .arguments = arguments,
           .outputs = {role},
           .plain = [c](const TensorList& v) { return TensorList{plain_gather_gradient(c.table, v[0], v[1])}; },
           .depth = depth,
           .exact_on_integers = true,
           .internal = true});
      rows.push_back({.op = "gather_gradient_rows",
                      .note = of,
                      .call = inserted_gather_gradient("gather_gradient_rows", c.table, role),
                      .arguments = arguments,
                      .outputs = {role, DType::int32},
                      .plain = [c](const TensorList& v) { return plain_gather_gradient_rows(c.table, v[0], v[1]); },
                      .depth = depth,
                      .exact_on_integers = true,
                      .internal = true});
    }
  }
  return rows;
}

inline std::vector<Refusal> gather_refusals() {
  using mezzo::DType;
  using mezzo::DTypeError;
  using mezzo::Shape;
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const auto at = [](std::int32_t index) { return Tensor({3}, std::vector<std::int32_t>{0, 1, index}); };
  std::vector<Refusal> out{refusal<DTypeError>("gather", "[gather] indices must be integers; got float32",
                                               [] {
                                                 mezzo::gather(Tensor({5, 3}), Tensor({2}));
                                               }),
                           refusal<DTypeError>("gather", "[gather] indices must be integers; got bool",
                                               [] {
                                                 mezzo::gather(Tensor({5, 3}), Tensor({2}, DType::boolean));
                                               }),
                           refusal<ShapeError>("gather", "[gather] table must have at least 1 axis; got shape ()",
                                               [] { mezzo::gather(Tensor(Shape{}), Tensor({2}, DType::int32)); })};
  for (const std::int32_t index : {5, -1}) {
    const std::string text = " indices must be in [0, 5); got " + std::to_string(index) + " at index 2";
    out.push_back(refusal<mezzo::ValueError>("gather", "[gather]" + text, [at, index] {
      mezzo::gather(Tensor({5, 2}), at(index));
    }));
    for (const std::string op : {"gather_gradient", "gather_gradient_rows"}) {
      out.push_back(refusal<mezzo::ValueError>(op, "[" + op + "]" + text, [at, index, op] {
        inserted_gather_gradient(op, {5, 2}, Role::varied())({at(index), Tensor({3, 2})});
      }));
    }
  }
  out.push_back(refusal<mezzo::ValueError>("gather", "[gather] indices must be in [0, 0); got 0 at index 0", [at] {
    mezzo::gather(Tensor({0, 2}), at(0));
  }));
  out.push_back(refusal<ShapeError>("add_gather_gradient",
                                    "[add_gather_gradient] the cotangent must have shape (3, 2); got (2, 2)", [at] {
                                      inserted("add_gather_gradient")({Tensor({5, 2}), at(2), Tensor({2, 2})});
                                    }));
  out.push_back(refusal<mezzo::ValueError>("add_gather_gradient",
                                           "[add_gather_gradient] indices must be in [0, 5); got 5 at index 2", [at] {
                                             inserted("add_gather_gradient")({Tensor({5, 2}), at(5), Tensor({3, 2})});
                                           }));
  for (const std::string op : {"gather_gradient", "gather_gradient_rows"}) {
    out.push_back(refusal<ShapeError>(op, "[" + op + "] the cotangent must have shape (3, 2); got (2, 2)", [at, op] {
      inserted_gather_gradient(op, {5, 2}, Role::varied())({at(2), Tensor({2, 2})});
    }));
  }
  return out;
}

}  // namespace mezzo_tests
