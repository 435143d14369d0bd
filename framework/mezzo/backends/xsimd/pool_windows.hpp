#pragma once
// Windows of pooling, for .isa.cpp files.
#include <mezzo/backends/xsimd/pooling.hpp>
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Index = std::int64_t;

/// Half-open range [begin, end) of indices.
struct Range {
  Index begin, end;
};

/// Window number `out` of an axis. `start` is its first index in the image, negative if it starts in the padding.
/// `places` is the range of offsets from `start` that lie inside the image.
struct Window {
  Index start;
  Range places;

  Window(const PoolAxis& axis, Index out) : start(out * axis.stride - axis.padding) {
    places.begin = start < 0 ? -start : 0;
    places.end = start + axis.window > axis.size ? axis.size - start : axis.window;
  }
  bool empty() const { return places.begin >= places.end; }
};

/// Advances a range of windows to the windows that contain index `at` of the image. The range must be {0, 0} or the
/// result for a smaller index.
[[gnu::always_inline]] inline void advance(Range& windows, const PoolAxis& axis, Index at) {
  while (windows.begin * axis.stride + axis.window <= at + axis.padding) ++windows.begin;
  while (windows.end < axis.out_size && windows.end * axis.stride <= at + axis.padding) ++windows.end;
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
