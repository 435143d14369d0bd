#pragma once
#include <cstdint>

namespace mezzo {

/// How many oneDNN primitives this process has created: steps after the first must not add to it.
std::int64_t onednn_primitives_created();

}  // namespace mezzo
