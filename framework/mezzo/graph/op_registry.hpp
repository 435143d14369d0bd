#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/graph/op.hpp>

namespace mezzo {

using OpTable = std::vector<const Op*>;

/// Adds the library's ops: `table` is called at the first look-up. Called once, by registration.cpp.
void register_op_table(const OpTable& (*table)());

/// Adds an op of a user's program and keeps it for the life of the process. An op of the same name that was added
/// before is replaced for later look-ups; graphs that use it keep it. A NameError for the name of a library's op.
const Op& register_op(std::unique_ptr<Op> op);

/// The op of that name; a NameError that lists the valid names otherwise.
const Op& find_op(const std::string& name);

/// All ops: leaves, the library's, then those of the user's program.
OpTable registered_ops();

/// @name Ops that the graph itself inserts
/// @{
const Op& cast_op();          ///< another dtype
const Op& join_master_op();   ///< a split master's halves as float32
const Op& split_master_op();  ///< float32 as a split master's halves
/// @}

/// @name Leaves: nodes without inputs and kernels
/// @{
const Op& constant_op();  ///< an array, in the attribute `value`
const Op& input_op();     ///< an argument of the plan
const Op& runtime_op();   ///< a RuntimeScalar
const Op& variable_op();  ///< a variable as it is stored
/// @}

}  // namespace mezzo
