#pragma once
#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// Number of multiplications and additions of matrix products, convolutions and recurrences and of their gradients; 0
/// for other ops. Counted by the definition of the op, without the savings (Winograd) and additions (a bias) of a
/// kernel.
double operations(const KernelRequest& request);

/// True if one thread computes the request about as fast as several: sharing the work saves less time than passing it
/// to other threads and waiting for them costs. A cost model; depends only on the request.
bool is_small(const KernelRequest& request);

/// True for a convolution by a 1 x 1 kernel without strides, padding and groups, given its attributes.
bool is_pointwise(const Attributes& attributes, const Shape& kernel);

}  // namespace mezzo
