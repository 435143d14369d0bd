#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/nn/constraint.hpp>

namespace mezzo {

/// Constraints by Keras' names.
const NameTable<Constraint>& constraint_names();

}  // namespace mezzo
