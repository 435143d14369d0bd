#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

/// Losses by Keras' names.
const NameTable<Loss>& loss_names();

}  // namespace mezzo
