#pragma once
#include <cstdint>
#include <functional>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// A tensor whose element i is draw(i), rounded once from double. draw is called on several threads.
Tensor draw_each(const Shape& shape, DType dtype, const std::function<double(std::uint64_t)>& draw);

/// Number i of a key's stream, in [0, 1).
double uniform(std::uint64_t key, std::uint64_t i);

/// Number i of a key's stream, of mean 0 and deviation 1 (Box and Muller, 1958).
double normal(std::uint64_t key, std::uint64_t i, std::uint64_t attempt = 0);

/// The same with what lies beyond two deviations drawn anew.
double truncated_normal(std::uint64_t key, std::uint64_t i);

}  // namespace mezzo::detail
