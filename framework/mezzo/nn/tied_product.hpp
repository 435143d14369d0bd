#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/variable.hpp>
#include <mezzo/precision/policy.hpp>

namespace mezzo::detail {

/// tied_product() whose operands are int8 if the policy in force and that of the layer with the table have products of
/// int8: matmul_of_table().
MEZZO_API Value tied_product(const Value& x, const Variable& table, const Policy& of_table);

}  // namespace mezzo::detail
