#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Mean of hidden states (batch, positions, size) over the positions with a nonzero attention_mask (batch, positions)
/// of integers: (batch, size). Sentence encoders use it as their last step (Reimers and Gurevych, 2019, arXiv
/// 1908.10084). The result for a row without such a position is 0.
MEZZO_API Value mean_pooling(const Value& states, const Value& attention_mask);

}  // namespace mezzo
