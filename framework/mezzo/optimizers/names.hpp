#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// Optimizers by Keras' names.
const NameTable<Optimizer>& optimizer_names();

}  // namespace mezzo
