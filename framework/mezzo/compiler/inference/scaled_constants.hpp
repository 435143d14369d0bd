#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include <mezzo/compiler/inference/frozen_constants.hpp>

// Arithmetic of fold_scales() on constants, in float64. Results are kept in the FrozenConstants.
namespace mezzo::detail {

/// x scale + shift with a number for each channel, float64 (channels,).
struct ChannelScale {
  Tensor scale, shift;
  bool shifts = false;  ///< false: shift is 0
};

/// Scale and shift of a batch norm. `numbers`: gamma, beta, moving mean and moving variance.
ChannelScale scale_of_norm(const std::vector<Tensor>& numbers, double epsilon, FrozenConstants& constants);

/// A multiplication by `numbers`, or an addition of `sign` times these: one for all or one for each channel.
ChannelScale scale_by(const Tensor& numbers, std::int64_t channels, FrozenConstants& constants);
ChannelScale shift_by(const Tensor& numbers, std::int64_t channels, double sign, FrozenConstants& constants);

/// The numbers of a leaf of freeze() or of a cast of such, before a cast to a narrower dtype; none for other values.
std::optional<Tensor> wide_constant(const Value& value, FrozenConstants& constants);

/// The kernel times the numbers of `scale` along an axis, in the accumulation dtype of the kernel's.
Tensor scaled_along(const Tensor& kernel, std::size_t axis, const Tensor& scale, FrozenConstants& constants);

/// Quotients of the numbers of two vectors, in the dtype of the first one.
Tensor divided_by(const Tensor& numbers, const Tensor& divisors, FrozenConstants& constants);

/// The bias of a product that is scaled, in that dtype; none if it is 0. Without `bias` it was 0 before.
std::optional<Tensor> scaled_bias(const std::optional<Tensor>& bias, const ChannelScale& by, DType dtype,
                                  FrozenConstants& constants);

/// The bias of a product whose input is shifted along the axis `in` of its kernel; `out` is the axis of the outputs.
Tensor shifted_bias(const std::optional<Tensor>& bias, const Tensor& kernel, std::size_t in, std::size_t out,
                    const Tensor& shift, DType dtype, FrozenConstants& constants);

Tensor as_dtype(const Tensor& numbers, DType dtype, FrozenConstants& constants);

bool is_finite(const Tensor& numbers);

}  // namespace mezzo::detail
