#pragma once

#include "ops/plain.hpp"

// tile_matmul: numbers by plain loops, of whole numbers whose codes are exact. The rounding of others is in
// test_xsimd_tiles.cpp.
namespace mezzo_tests {

// Whole numbers, of which the largest magnitude of the only tile is 127.
inline mezzo::Tensor tile_of_integers(const mezzo::Shape& shape, std::uint64_t seed) {
  mezzo::Tensor x = map(uniform(shape, -9.4, 9.4, seed), [](double number) { return std::round(number); });
  if (x.size() > 0) x.mutable_data<double>()[x.size() / 2] = 127;
  return x;
}

inline OpRow tile_matmul_row(std::int64_t rows) {
  constexpr std::int64_t depth = 3, columns = 4;
  return {.op = "tile_matmul",
          .note = std::to_string(rows) + " rows",
          .call = inserted_with_dtype("tile_matmul", {{"key", std::int64_t{3}}}, Role::varied()),
          .arguments = {{tile_of_integers({rows, depth}, 1)},
                        {tile_of_integers({rows, columns}, 2)},
                        {float64_scalar(1), mezzo::DType::float64},
                        {float64_scalar(2), mezzo::DType::float64}},
          .outputs = {Role::varied()},
          .plain =
              [=](const TensorList& v) {
                mezzo::Tensor out({depth, columns}, mezzo::DType::float64);
                for (std::int64_t m = 0; m < rows; ++m) {
                  for (std::int64_t i = 0; i < depth * columns; ++i) {
                    out.mutable_data<double>()[i] +=
                        v[0].data<double>()[m * depth + i / columns] * v[1].data<double>()[m * columns + i % columns];
                  }
                }
                return TensorList{out};
              },
          .depth = 5,
          .keeps = true};
}

inline std::vector<OpRow> tile_matmul_rows() { return {tile_matmul_row(5), tile_matmul_row(0)}; }

inline std::vector<Refusal> tile_matmul_refusals() {
  return {refusal<mezzo::ShapeError>(
      "tile_matmul", "[tile_matmul] operands must be (rows, K) and (rows, N); got (4, 3) and (5, 3)", [=] {
        inserted("tile_matmul", {{"key", std::int64_t{3}}, {"dtype", mezzo::DType::float32}})(
            {mezzo::Tensor({4, 3}), mezzo::Tensor({5, 3}), float64_scalar(1), float64_scalar(2)});
      })};
}

}  // namespace mezzo_tests
