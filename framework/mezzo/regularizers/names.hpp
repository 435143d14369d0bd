#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/nn/regularizer.hpp>

namespace mezzo {

/// Regularizers by Keras' names.
const NameTable<Regularizer>& regularizer_names();

}  // namespace mezzo
