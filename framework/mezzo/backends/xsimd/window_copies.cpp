#include <mezzo/backends/xsimd/window_copies.hpp>

#include <algorithm>
#include <cstring>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

constexpr Index line = 16;  // words of a cache line; packing writes up to 4 words behind a block

}  // namespace

WindowSizes::WindowSizes(const KernelRequest& request) {
  const Shape &x = request.inputs[0].shape, &g = request.inputs[1].shape, &kernel = request.outputs[0].shape;
  const auto& padding = request.attributes.get<Shape>("padding");
  images = x[0], height = x[1], width = x[2], channels = x[3];
  out_height = g[1], out_width = g[2], filters = g[3];
  kernel_height = kernel[0], kernel_width = kernel[1];
  stride = request.attributes.get<Shape>("strides")[0];
  top = padding[0], left = padding[2];
}

WindowCopies::WindowCopies(const KernelRequest& request, const WindowSizes& sizes, Isa isa)
    : sizes_(sizes),
      packing_(request.inputs[0].dtype, isa),
      row_words_(packing_.words(sizes.out_width) * block_columns) {}

void WindowCopies::set_chunk(Index images, Index rows) {
  // Rows of the image at a distance of the stride belong to the same row of the kernel and lie together.
  const Index in_rows = (rows - 1) * sizes_.stride + sizes_.kernel_height;
  phase_words_ = (in_rows + sizes_.stride - 1) / sizes_.stride * row_words_ + line;
  block_pitch_ = images * image_pitch() + line;
}

/// The numbers that windows read of a row of the images of x: in place, or as a copy with its padding in `row`.
const char* WindowCopies::padded_row(const KernelArguments& arguments, Index number, char* row) const {
  const Index used = used_numbers(), before = sizes_.left * sizes_.channels;
  const Index copied = std::min(sizes_.width * sizes_.channels, used - before);
  if (copied <= 0) return row;  // all windows lie in the padding
  const char* const from = arguments.in<char>(0) + number * row_bytes();
  if (before == 0 && copied == used) return from;
  std::memcpy(row + before * packing_.size(), from, static_cast<std::size_t>(copied * packing_.size()));
  return row;
}

void WindowCopies::pack(const KernelArguments& arguments, const WindowChunk& chunk, Index first, Index last, float* row,
                        float* to) const {
  const Columns of_blocks{first * block_columns, std::min(columns(), last * block_columns) - first * block_columns};
  const Index rows = (chunk.rows - 1) * sizes_.stride + sizes_.kernel_height;
  for (Index image = 0; image < chunk.images; ++image) {
    for (Index i = 0; i < rows; ++i) {
      const Index y = chunk.row * sizes_.stride + i - sizes_.top;
      float* const at = to + image * image_pitch() + place(i);
      if (y < 0 || y >= sizes_.height) {
        for (Index block = 0; block < last - first; ++block) std::fill_n(at + block * block_pitch_, row_words_, 0.0F);
        continue;
      }
      const char* const from =
          padded_row(arguments, (chunk.image + image) * sizes_.height + y, reinterpret_cast<char*>(row));
      packing_.blocks(from, sizes_.stride * sizes_.channels, of_blocks, {0, sizes_.out_width}, at, block_pitch_);
    }
  }
}

}  // namespace mezzo::xsimd_kernels
