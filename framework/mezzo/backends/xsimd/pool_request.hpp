#pragma once
#include <mezzo/backends/xsimd/pool_shape.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::xsimd_kernels {

/// What a request for pooling x to y asks for.
inline PoolShape pool_shape(const KernelRequest& request, const Shape& x, const Shape& y) {
  const auto& window = request.attributes.get<Shape>("window");
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  return {{x[1], y[1], window[0], strides[0], padding[0]}, {x[2], y[2], window[1], strides[1], padding[2]}, x[3]};
}

}  // namespace mezzo::xsimd_kernels
