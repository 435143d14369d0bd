#pragma once
#include <cstdint>
#include <string>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {

/// Minimal number of rows, and of columns of the other sides, of products for which packing saves time.
constexpr std::int64_t fewest_rows = 512, fewest_channels = 8;

/// Most rows that are multiplied with a whole kernel at a time: whole blocks of products for each ISA.
constexpr std::int64_t chunk_rows = 96;

/// True for enough pixels, channels and filters. Sets the reason otherwise.
bool has_many_pixels(const KernelRequest& request, const Shape& kernel, std::string& reason);

/// 1 x 1 convolutions and their gradients with respect to the input, as products of matrices with a row for each pixel.
Entries pointwise_entries();

/// Gradients of 1 x 1 convolutions together with that of the batch norm behind them.
Entries pointwise_norm_gradient_entries();

}  // namespace mezzo::xsimd_kernels
