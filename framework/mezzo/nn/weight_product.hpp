#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo::detail {

/// LayerState::content of an EinsumDense whose product isn't one of x with its kernel as a matrix (in, out).
struct PlainProducts {};

/// x (..., in) times a kernel as the matrix (in, out): (..., out). The first axes of the kernel have `in` elements, the
/// others `out`. Adds the product with the adapter in use, if there is one. Layers with dense kernels compute by it. In
/// a functional graph it is a call of its own, so that the model computes with the kernel's form at each call.
MEZZO_API Value weight_product(const Value& x, const Variable& kernel);

/// x (..., size) times the transposed table (rows, size): (..., rows).
MEZZO_API Value table_product(const Value& x, const Variable& table);

/// table_product() without adapters: logits by a table that a language model shares with its output layer. PEFT leaves
/// adapters of the table out of these.
MEZZO_API Value tied_product(const Value& x, const Variable& table);

/// Rows of a table (rows, size) with these indices: indices' shape and (size). As weight_product in functional graphs.
MEZZO_API Value table_rows(const Value& indices, const Variable& table);

}  // namespace mezzo::detail
