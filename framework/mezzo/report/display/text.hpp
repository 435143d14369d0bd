#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/training/module/history.hpp>

namespace mezzo {

/// Dtype, shape and elements in the style of numpy. Floats have six digits. If the tensor has more than 1000 elements,
/// each axis shows only its first and last three.
///
///     float32 (2, 2)
///     [[1, 2],
///      [3, 4]]
MEZZO_API std::string to_text(const Tensor& tensor);

/// Table with a line per epoch and a column per name. A ValueError if a name doesn't have one number per epoch.
MEZZO_API std::string to_text(const History& history);

}  // namespace mezzo
