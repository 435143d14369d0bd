#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Number of points of Winograd's F(4 x 4, 3 x 3) (Lavin and Gray, 2015, arXiv 1509.09308). An output tile of 4 x 4
/// pixels needs 36 products for each pair of channels; the sum over the kernel needs 144. At each of the 36 points a
/// convolution is a matrix product.
constexpr std::int64_t winograd_points = 36;

/// Images (images, height, width, channels), each cut into down x across tiles. Tile (i, j) begins at pixel
/// (4 i - top, 4 j - left). Pixels outside of the image are 0.
struct TiledImages {
  std::int64_t height = 0, width = 0, channels = 0, down = 0, across = 0, top = 0, left = 0;
};

/// A matrix at each point: element (point, row, column) is data[point * pitch + row * width + column].
struct Points {
  float* data = nullptr;
  std::int64_t pitch = 0, width = 0;
};

/// The bias and the residual that are added to the sums, unless they are null, and the limits of the result; NaN is
/// kept. The residual has the shape and the storage type of the images.
struct WinogradEpilogue {
  const float* bias = nullptr;
  const void* residual = nullptr;
  float least = 0, most = 0;
};

struct WinogradFunctions {
  /// Transforms tiles [begin, end) of the images to one row each: the 6 x 6 pixels d to B^T d B.
  using Gather = void (*)(const void* images, const TiledImages&, std::int64_t begin, std::int64_t end, Points);

  /// Transforms tiles [begin, end) of the output's cotangents to one row each: the 4 x 4 pixels g to A g A^T.
  using GatherOutput = Gather;

  /// The pixels of a tile that are not 0 in some channel, among `pixels`: bit 6 i + j is pixel (i, j).
  using Occupied = std::uint64_t (*)(const void* images, const TiledImages&, std::int64_t tile, std::uint64_t pixels);

  /// Transforms tiles [begin, end), one row each, to pixels of the images: A^T m A, and what follows it. In place of
  /// A^T m A, pixel (i, j) of tile t is 0 if bit 4 i + j of zeros[t - begin] is set.
  using Scatter = void (*)(Points, const TiledImages&, std::int64_t begin, std::int64_t end, const std::uint16_t* zeros,
                           const WinogradEpilogue&, void* images);

  /// Transforms columns [begin, end) of a kernel (3, 3, depth, columns), at most one panel of products, to G g G^T.
  /// Rows of the points have the width of a panel; the rest of it is filled with 0.
  using Kernel = void (*)(const void* kernel, std::int64_t depth, std::int64_t columns, std::int64_t begin,
                          std::int64_t end, Points);

  /// Rotates channels [begin, end) of a kernel (3, 3, channels, filters) by 180 degrees and transposes them:
  /// (3, 3, filters, channels) in float32.
  using Turn = void (*)(const void* kernel, std::int64_t channels, std::int64_t filters, std::int64_t begin,
                        std::int64_t end, float* turned);

  /// Transforms rows [begin, end) of points (rows, columns) to rows of a kernel (3, 3, rows, columns): G^T p G.
  using KernelGradient = void (*)(Points, std::int64_t rows, std::int64_t columns, std::int64_t begin, std::int64_t end,
                                  void* kernel);

  PerStorage<Gather> gather;
  PerStorage<GatherOutput> gather_output;
  PerStorage<Occupied> occupied;
  PerStorage<Scatter> scatter;
  PerStorage<Kernel> kernel;
  PerStorage<Turn> turn;
  PerStorage<KernelGradient> kernel_gradient;
};

MEZZO_ISA_TABLE(WinogradFunctions, winograd)

Entries winograd_entries();
/// Kernels that read normalized images. Only winograd_implementations() chooses them, by their cost.
Entries normalized_winograd_entries();

}  // namespace mezzo::xsimd_kernels
