#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

/// Initializers by Keras' names.
const NameTable<Initializer>& initializer_names();

}  // namespace mezzo
