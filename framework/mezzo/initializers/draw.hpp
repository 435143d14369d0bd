#pragma once
#include <cstdint>
#include <functional>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Returns a tensor with draw(i), rounded once from double, as element i. Several threads call `draw`.
Tensor draw_each(const Shape& shape, DType dtype, const std::function<double(std::uint64_t)>& draw);

/// Number i of the key's random stream, uniform in [0, 1).
double uniform(std::uint64_t key, std::uint64_t i);

/// Number i of the key's random stream, normal with mean 0 and standard deviation 1 (Box and Muller, 1958). `attempt`
/// selects a further stream.
double normal(std::uint64_t key, std::uint64_t i, std::uint64_t attempt = 0);

/// Number i of the key's random stream, as normal() but redrawn until it lies in [-2, 2].
double truncated_normal(std::uint64_t key, std::uint64_t i);

}  // namespace mezzo::detail
