#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// The mean of hidden states (batch, positions, size) over the positions whose attention_mask (batch, positions), of
/// integers, is not 0: (batch, size). What sentence encoders end with (Reimers and Gurevych, 2019, arXiv 1908.10084).
/// A text without such a position gives 0.
Value mean_pooling(const Value& states, const Value& attention_mask);

}  // namespace mezzo
