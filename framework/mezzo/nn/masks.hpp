#pragma once
#include <cstddef>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

// Masks of Values (Value::mask) in layers.
namespace mezzo::detail {

/// Score of masked elements before a softmax. Finite in float16; its exponential is 0.
inline constexpr double masked_score = -3e4;

/// The mask with axes of size 1 added at its end, so that it broadcasts to values of that rank.
MEZZO_API Value mask_of_rank(const Value& mask, std::size_t rank);

/// Mask of elementwise merging layers, as Keras' Add has it: true where any of the masks is; undefined unless every
/// input has one.
MEZZO_API Value merged_mask(const Values& masks);

}  // namespace mezzo::detail
