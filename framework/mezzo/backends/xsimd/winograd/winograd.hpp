#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Winograd's F(4 x 4, 3 x 3) (Lavin and Gray, 2015, arXiv 1509.09308): an output tile of 4 x 4 pixels takes 36
/// products for each pair of channels where the sum over the kernel takes 144. At each of the 36 points it is a matrix
/// product.
constexpr std::int64_t winograd_points = 36;

/// Images (images, height, width, channels), cut into down x across tiles each; tile (i, j) begins at pixel
/// (4 i - top, 4 j - left), and pixels outside of the image are 0.
struct TiledImages {
  std::int64_t height = 0, width = 0, channels = 0, down = 0, across = 0, top = 0, left = 0;
};

/// A float at (point, row, column) lies at data[point * pitch + row * width + column].
struct Points {
  float* data = nullptr;
  std::int64_t pitch = 0, width = 0;
};

struct WinogradFunctions {
  /// Tiles [begin, end) of the images, one row each: the 6 x 6 pixels d as B^T d B.
  using Gather = void (*)(const void* images, const TiledImages&, std::int64_t begin, std::int64_t end, Points);

  /// Tiles [begin, end) of cotangents of the output, one row each: the 4 x 4 pixels g as A g A^T.
  using GatherOutput = Gather;

  /// Tiles [begin, end), one row each, as pixels of the images: A^T m A, plus bias, if there is one, and not below 0 if
  /// `relu`.
  using Scatter = void (*)(Points, const TiledImages&, std::int64_t begin, std::int64_t end, const float* bias,
                           bool relu, void* images);

  /// Columns [begin, end), at most a panel of products, of a kernel (3, 3, depth, columns), as G g G^T: points of rows
  /// of a panel's width, filled up with 0.
  using Kernel = void (*)(const void* kernel, std::int64_t depth, std::int64_t columns, std::int64_t begin,
                          std::int64_t end, Points);

  /// Channels [begin, end) of a kernel (3, 3, channels, filters), turned: (3, 3, filters, channels), the first two axes
  /// backwards, in float32.
  using Turn = void (*)(const void* kernel, std::int64_t channels, std::int64_t filters, std::int64_t begin,
                        std::int64_t end, float* turned);

  /// Rows [begin, end) of points (rows, columns) as those of a kernel (3, 3, rows, columns): G^T p G.
  using KernelGradient = void (*)(Points, std::int64_t rows, std::int64_t columns, std::int64_t begin, std::int64_t end,
                                  void* kernel);

  PerStorage<Gather> gather;
  PerStorage<GatherOutput> gather_output;
  PerStorage<Scatter> scatter;
  PerStorage<Kernel> kernel;
  PerStorage<Turn> turn;
  PerStorage<KernelGradient> kernel_gradient;
};

const WinogradFunctions& winograd_functions(Isa isa);

namespace sse2 {
extern const WinogradFunctions winograd;
}
namespace avx2 {
extern const WinogradFunctions winograd;
}
namespace avx512 {
extern const WinogradFunctions winograd;
}
namespace avx512_bf16 {
extern const WinogradFunctions winograd;
}

}  // namespace mezzo::xsimd_kernels
