#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/graph/op.hpp>

namespace mezzo {

/// Ops in order.
using OpTable = std::vector<const Op*>;

/// Adds the library's ops: `table` is called at the first look-up. Called once, by registration.cpp.
void register_op_table(const OpTable& (*table)());

/// Adds an op of a user program and keeps it until the process ends. It replaces an earlier user op of the same name
/// for later look-ups; existing graphs keep the earlier op. Throws a NameError for the name of a library op.
const Op& register_op(std::unique_ptr<Op> op);

/// The op of that name. Throws a NameError that lists the valid names if there is none.
const Op& find_op(const std::string& name);

/// All ops: leaves, ops of the library, then ops of the user program.
OpTable registered_ops();

/// @name Ops that the graph inserts
/// @{
const Op& cast_op();          ///< casts to another dtype
const Op& join_master_op();   ///< joins the halves of a split master to float32
const Op& split_master_op();  ///< splits float32 into the halves of a split master
const Op& dequantize_op();    ///< numbers of a quantized weight
/// @}

/// @name Leaves: nodes without inputs and kernels
/// @{
const Op& constant_op();  ///< an array, in the attribute `value`
const Op& input_op();     ///< an argument of the plan
const Op& runtime_op();   ///< a RuntimeScalar
const Op& variable_op();  ///< stored value of a variable
/// @}

}  // namespace mezzo
