#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/normalized_input.hpp>
#include <mezzo/backends/xsimd/winograd/geometry.hpp>

namespace mezzo::xsimd_kernels::winograd {

/// Images whose tiles are transformed: input 0 of a kernel, or relu(norm(input 0)) in float32. A thread computes the
/// rows of the latter under some tiles at a time.
class TileRows {
 public:
  using Index = std::int64_t;

  /// If it `normalizes`, inputs 2 to 5 of the request are those of NormalizedInput.
  TileRows(const KernelRequest& request, bool normalizes, const Geometry& geometry, Isa isa, ScratchLayout& layout)
      : images_(geometry.x),
        row_floats_(images_.width * images_.channels),
        step_(normalizes ? std::max<Index>(fewest, 3 * images_.across) : geometry.tiles),
        threads_(thread_count()),
        input_(request, normalizes, isa, layout) {
    if (!normalizes) return;
    // A tile has 6 rows, of which 2 belong to the next tile too. Steps may begin and end within a row of tiles.
    const Index tile_rows = (step_ - 2 + images_.across) / images_.across + 1;
    const Index images = tile_rows / images_.down + 2, height = request.inputs[0].shape[0] * images_.height;
    own_floats_ = std::min(height, 4 * tile_rows + 2 * images) * row_floats_;
    own_ = layout.take(float_bytes(threads_ * own_floats_));
  }

  /// Most tiles of a call of under().
  Index step() const { return step_; }
  /// Most threads that have memory.
  int threads() const { return std::min(threads_, thread_count()); }

  /// Called once per run, before under().
  void prepare(const KernelArguments& arguments) const { input_.prepare(arguments); }

  /// The address of images, of which the rows under tiles [begin, end) are in memory until the thread's next call.
  const void* under(const KernelArguments& arguments, int thread, Index begin, Index end) const {
    if (!input_) return arguments.inputs[0];
    const Index first = row_of(begin, 0), last = row_of(end - 1, 6);
    float* const own = floats_at(arguments, own_) + thread * own_floats_;
    input_.compute(arguments, arguments.in<float>(0) + first * row_floats_, 0, images_.channels,
                   (last - first) * images_.width, own);
    return own - first * row_floats_;
  }

 private:
  static constexpr Index fewest = 48;  ///< tiles of a step, so that steps have few rows in common

  /// Row `i` of a tile, counted over all images, within the tile's image.
  Index row_of(Index tile, Index i) const {
    const Index tiles = images_.down * images_.across, row = tile % tiles / images_.across * 4 - images_.top + i;
    return tile / tiles * images_.height + std::clamp<Index>(row, 0, images_.height);
  }

  const TiledImages images_;
  const Index row_floats_, step_;
  const int threads_;
  const NormalizedInput input_;
  Index own_floats_ = 0;
  std::size_t own_ = 0;  ///< offset in scratch memory
};

}  // namespace mezzo::xsimd_kernels::winograd
