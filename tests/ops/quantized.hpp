#pragma once

#include <cmath>
#include <limits>

#include <mezzo/precision/nf4.hpp>

#include "ops/plain.hpp"

// dequantize and quantized_matmul.
namespace mezzo_tests {

struct QuantizedProduct {
  const char* note;
  std::int64_t rows, depth, width;
  std::int64_t bits = 8, block = -1;
  bool transposed = false;
  std::string activations = "none";
  bool nf4 = false;
};

inline mezzo::Tensor random_codes(const mezzo::Shape& shape, std::int64_t bits, std::uint64_t seed) {
  mezzo::Shape stored = shape;
  if (bits == 4) stored.back() = (stored.back() + 1) / 2;
  return integers(stored, mezzo::DType::int8, bits == 4 ? -128 : -127, 128, seed);
}

// Code of a row and a column of a matrix of `columns` columns.
inline int plain_code(const mezzo::Tensor& codes, std::int64_t row, std::int64_t column, std::int64_t bits) {
  const std::int64_t width = codes.shape().back();
  const auto* data = codes.data<std::int8_t>();
  if (bits == 8) return data[row * width + column];
  const auto byte = static_cast<std::uint8_t>(data[row * width + column / 2]);
  const int half = (column % 2 == 0 ? byte : byte >> 4) & 15;
  return half >= 8 ? half - 16 : half;
}

inline double plain_number(const TensorList& codes, std::int64_t code, std::int64_t scale, bool nf4) {
  const double by = codes[1].data<float>()[scale];
  if (nf4) return static_cast<double>(mezzo::nf4_values[static_cast<std::size_t>(code < 0 ? code + 16 : code)]) * by;
  return codes.size() > 2 ? static_cast<double>(code - codes[2].data<std::int8_t>()[scale]) * by
                          : static_cast<double>(code) / by;
}

inline double plain_product(const QuantizedProduct& p, const TensorList& v, std::int64_t i, std::int64_t n) {
  const double* x = v[0].data<double>() + i * p.depth;
  const std::int64_t block = p.block > 0 ? p.block : p.depth, blocks = p.depth / block + (p.depth % block != 0 ? 1 : 0);
  TensorList codes{v[1], v[2]};
  if (p.block > 0 && !p.nf4) codes.push_back(v[3]);
  double scale = 1;
  if (p.activations == "static") scale = v.back().data<float>()[0];
  if (p.activations == "dynamic") {
    double most = 0;
    for (std::int64_t k = 0; k < p.depth; ++k) most = std::max(most, std::abs(x[k]));
    scale = 127 / (most + 1e-7);
  }
  double sum = 0;
  for (std::int64_t k = 0; k < p.depth; ++k) {
    const int code = p.transposed ? plain_code(v[1], n, k, p.bits) : plain_code(v[1], k, n, p.bits);
    const std::int64_t at = p.transposed ? n * blocks + k / block : k / block * p.width + n;
    const double by = p.activations == "none" ? x[k] : std::min(std::max(std::nearbyint(x[k] * scale), -127.0), 127.0);
    sum += by * plain_number(codes, code, at, p.nf4);
  }
  return sum / scale;
}

inline OpRow quantized_product_row(const QuantizedProduct& p) {
  const mezzo::Shape matrix = p.transposed ? mezzo::Shape{p.width, p.depth} : mezzo::Shape{p.depth, p.width};
  const std::int64_t blocks = p.block > 0 ? (p.depth + p.block - 1) / p.block : 1;
  const mezzo::Shape scales = p.block <= 0   ? mezzo::Shape{p.width}
                              : p.transposed ? mezzo::Shape{p.width, blocks}
                                             : mezzo::Shape{blocks, p.width};
  OpRow row{.op = "quantized_matmul",
            .note = p.note,
            .call = inserted("quantized_matmul", {{"bits", p.bits},
                                                  {"columns", matrix.back()},
                                                  {"block_size", p.block},
                                                  {"nf4", p.nf4},
                                                  {"transpose_b", p.transposed},
                                                  {"activations", p.activations}}),
            .arguments = {{uniform({p.rows, p.depth}, -1, 1, 1)},
                          {random_codes(matrix, p.bits, 2), mezzo::DType::int8},
                          {p.block > 0 ? uniform(scales, 0.01, 0.02, 3).cast(mezzo::DType::float32)
                                       : uniform(scales, 50, 100, 3).cast(mezzo::DType::float32),
                           mezzo::DType::float32}},
            .outputs = {Role::varied()},
            .plain =
                [p](const TensorList& v) {
                  mezzo::Tensor out({p.rows, p.width}, mezzo::DType::float64);
                  for (std::int64_t i = 0; i < p.rows; ++i) {
                    for (std::int64_t n = 0; n < p.width; ++n) {
                      out.mutable_data<double>()[i * p.width + n] = plain_product(p, v, i, n);
                    }
                  }
                  return TensorList{out};
                },
            .depth = static_cast<double>(p.depth),
            .bfloat16_error = 0.05};
  if (p.block > 0 && !p.nf4) {
    row.arguments.push_back({integers(scales, mezzo::DType::int8, -8, 8, 4), mezzo::DType::int8});
  }
  if (p.activations == "static") {
    row.arguments.push_back({mezzo::Tensor::scalar(150, mezzo::DType::float32), mezzo::DType::float32});
  }
  if (p.activations == "none") row.differentiable = {0};
  return row;
}

// A matrix of codes with scales of its columns or rows, or of blocks of them.
inline OpRow dequantize_row(const char* note, std::int64_t bits, std::int64_t axis, std::int64_t block,
                            mezzo::DType dtype, std::int64_t rows = 5, bool nf4 = false) {
  constexpr std::int64_t columns = 7;
  const std::int64_t shared = axis == 0 ? rows : columns, blocks = block > 0 ? (shared + block - 1) / block : 1;
  const mezzo::Shape scales = block <= 0  ? mezzo::Shape{axis == 0 ? columns : rows}
                              : axis == 0 ? mezzo::Shape{blocks, columns}
                                          : mezzo::Shape{rows, blocks};
  OpRow row{.op = "dequantize",
            .note = note,
            .call = inserted("dequantize", {{"bits", bits},
                                            {"columns", columns},
                                            {"axes", mezzo::Shape{axis}},
                                            {"block_size", block},
                                            {"nf4", nf4},
                                            {"dtype", dtype}}),
            .arguments = {{random_codes({rows, columns}, bits, 2), mezzo::DType::int8},
                          {uniform(scales, 0.5, 2, 3).cast(mezzo::DType::float32), mezzo::DType::float32}},
            .outputs = {dtype},
            .plain = [=](const TensorList& v) {
              mezzo::Tensor out({rows, columns}, mezzo::DType::float64);
              for (std::int64_t i = 0; i < rows * columns; ++i) {
                const std::int64_t r = i / columns, c = i % columns, of_sum = axis == 0 ? r : c;
                const std::int64_t group = block > 0 ? of_sum / block : 0;
                const std::int64_t at = axis == 0 ? group * columns + c : r * blocks + group;
                out.mutable_data<double>()[i] = plain_number(v, plain_code(v[0], r, c, bits), at, nf4);
              }
              return TensorList{out.cast(dtype)};
            }};
  if (block > 0 && !nf4) row.arguments.push_back({integers(scales, mezzo::DType::int8, -8, 8, 4), mezzo::DType::int8});
  return row;
}

inline std::vector<OpRow> quantized_rows() {
  using mezzo::DType;
  std::vector<OpRow> rows{dequantize_row("8 bits by column", 8, 0, -1, DType::float32),
                          dequantize_row("8 bits by row", 8, 1, -1, DType::bfloat16),
                          dequantize_row("4 bits by column", 4, 0, -1, DType::float32),
                          dequantize_row("4 bits in blocks of rows", 4, 0, 2, DType::float64),
                          dequantize_row("4 bits in blocks of columns", 4, 1, 3, DType::float16),
                          dequantize_row("nf4 in blocks of rows", 4, 0, 2, DType::float32, 5, true),
                          dequantize_row("nf4 in blocks of columns", 4, 1, 3, DType::bfloat16, 5, true),
                          dequantize_row("no rows", 8, 1, -1, DType::float32, 0)};
  for (const char* activations : {"none", "dynamic", "static"}) {
    for (const bool transposed : {false, true}) {
      rows.push_back(quantized_product_row({"8 bits", 5, 19, 6, 8, -1, transposed, activations}));
      rows.push_back(quantized_product_row({"4 bits", 3, 21, 7, 4, -1, transposed, activations}));
      rows.push_back(quantized_product_row({"4 bits in blocks", 3, 21, 7, 4, 8, transposed, activations}));
    }
  }
  for (const bool transposed : {false, true}) {
    rows.push_back(quantized_product_row({"nf4", 3, 21, 7, 4, 8, transposed, "none", true}));
  }
  rows.push_back(quantized_product_row({"no rows", 0, 4, 3}));
  return rows;
}

inline std::vector<Refusal> quantized_refusals() {
  using mezzo::DType;
  using mezzo::Tensor;
  const mezzo::Attributes product{{"bits", std::int64_t{8}},
                                  {"columns", std::int64_t{3}},
                                  {"block_size", std::int64_t{-1}},
                                  {"transpose_b", false},
                                  {"activations", std::string("none")}};
  const mezzo::Attributes numbers{{"bits", std::int64_t{4}},
                                  {"columns", std::int64_t{3}},
                                  {"axes", mezzo::Shape{0}},
                                  {"block_size", std::int64_t{-1}},
                                  {"dtype", DType::float32}};
  const Tensor x({2, 4}), codes({4, 3}, DType::int8), packed({4, 2}, DType::int8), scale({3});
  return {
      refusal<mezzo::ShapeError>("quantized_matmul",
                                 "[quantized_matmul] input axis -1 must be 4 (rows of the weight); got shape (2, 5)",
                                 [=] {
                                   inserted("quantized_matmul", product)({Tensor({2, 5}), codes, scale});
                                 }),
      refusal<mezzo::DTypeError>("quantized_matmul", "[quantized_matmul] codes must be int8; got float32",
                                 [=] {
                                   inserted("quantized_matmul", product)({x, Tensor({4, 3}), scale});
                                 }),
      refusal<mezzo::ShapeError>("quantized_matmul", "[quantized_matmul] scale must have shape (3,); got shape (4,)",
                                 [=] {
                                   inserted("quantized_matmul", product)({x, codes, Tensor({4})});
                                 }),
      refusal<mezzo::ShapeError>("dequantize",
                                 "[dequantize] codes of 4 bits must have 2 in the last axis; got shape (4, 3)",
                                 [=] {
                                   inserted("dequantize", numbers)({codes, scale});
                                 }),
      refusal<mezzo::DTypeError>("dequantize", "[dequantize] scale must be float32; got float64",
                                 [=] {
                                   inserted("dequantize", numbers)({packed, scale.cast(DType::float64)});
                                 }),
      refusal<mezzo::ShapeError>("dequantize", "[dequantize] scale must have shape (3,); got shape (4,)", [=] {
        inserted("dequantize", numbers)({packed, Tensor({4})});
      })};
}

}  // namespace mezzo_tests
