#pragma once
#include <string>

#include <mezzo/core/tensor.hpp>
#include <mezzo/training/history.hpp>

namespace mezzo {

/// Dtype, shape and elements, as numpy prints them; of an axis of a tensor of more than 1000 elements only the first
/// and the last three. Floats have six digits.
///
///     float32 (2, 2)
///     [[1, 2],
///      [3, 4]]
std::string to_text(const Tensor& tensor);

/// A table: a line for each epoch, a column for each name. A ValueError if a name has not one number an epoch.
std::string to_text(const History& history);

}  // namespace mezzo
