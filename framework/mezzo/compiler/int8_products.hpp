#pragma once
#include <mezzo/graph/attributes.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {

/// True if a node of `op` with these attributes quantizes its operands to int8. Other ops, of a user's program too, may
/// have an attribute "products" of their own.
inline bool is_int8_product(const Op& op, const Attributes& attributes) {
  const bool multiplies = &op == &ops::matmul || &op == &ops::conv2d || &op == &ops::conv2d_input_gradient;
  return multiplies && attributes.has("products");
}

}  // namespace mezzo::detail
