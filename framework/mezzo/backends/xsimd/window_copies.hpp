#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/backends/xsimd/row_packing.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

/// Sizes of the gradient of a convolution's kernel: of x, of the cotangents and of the kernel.
struct WindowSizes {
  std::int64_t images, height, width, channels;
  std::int64_t out_height, out_width, filters;
  std::int64_t kernel_height, kernel_width, stride, top, left;

  explicit WindowSizes(const KernelRequest& request);
};

/// Images, and rows of the output.
struct WindowChunk {
  std::int64_t image, images, row, rows;
};

/// Copies of the windows of some images for products, in blocks of their columns. The window of an output pixel in one
/// row of the image is kernel width x channels numbers. Windows of an image's row serve all rows of the kernel.
class WindowCopies {
 public:
  using Index = std::int64_t;

  WindowCopies(const KernelRequest& request, const WindowSizes& sizes, Isa isa);

  /// Called once, with the most images and rows of a chunk.
  void set_chunk(Index images, Index rows);

  Index columns() const { return sizes_.kernel_width * sizes_.channels; }
  /// Words from block to block.
  Index block_pitch() const { return block_pitch_; }
  /// Words from image to image of a chunk.
  Index image_pitch() const { return sizes_.stride * phase_words_; }
  /// Words from a block's begin to the windows that row `row` of the kernel meets.
  Index place(Index row) const { return row % sizes_.stride * phase_words_ + row / sizes_.stride * row_words_; }
  /// Floats of the memory for a row of an image.
  Index row_floats() const { return used_numbers() + sizes_.width * sizes_.channels; }
  /// Bytes of a row of x.
  Index row_bytes() const { return sizes_.width * sizes_.channels * packing_.size(); }

  /// Copies blocks `first` to `last` - 1 of a chunk. `row`: memory for a row, filled with zeros before the first call.
  void pack(const KernelArguments& arguments, const WindowChunk& chunk, Index first, Index last, float* row,
            float* to) const;

 private:
  /// Numbers of a row with its padding that windows read.
  Index used_numbers() const {
    return ((sizes_.out_width - 1) * sizes_.stride + sizes_.kernel_width) * sizes_.channels;
  }
  const char* padded_row(const KernelArguments& arguments, Index number, char* row) const;

  const WindowSizes sizes_;
  const RowPacking packing_;
  const Index row_words_;  ///< of the windows of a row in a block
  Index phase_words_ = 0, block_pitch_ = 0;
};

}  // namespace mezzo::xsimd_kernels
