#include <mezzo/backends/xsimd/window_products.hpp>

#include <algorithm>
#include <cstring>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/left_factor.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>

// The window of an output pixel in one row of the image, kernel width x channels numbers, lies without gaps in memory.
// Therefore the gradient for one row of the kernel is a product a^T g, where a has a row for the window of each pixel.
// Windows are packed for the product: in bfloat16 as pairs that follow each other in a row, if the instruction set
// multiplies them, else as float32. The windows of an image's row serve all rows of the kernel.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

struct Sizes {
  Index images, height, width, channels;  // of x
  Index out_height, out_width, filters;
  Index kernel_height, kernel_width, stride, top, left;

  explicit Sizes(const KernelRequest& request) {
    const Shape &x = request.inputs[0].shape, &g = request.inputs[1].shape, &kernel = request.outputs[0].shape;
    const auto& padding = request.attributes.get<Shape>("padding");
    images = x[0], height = x[1], width = x[2], channels = x[3];
    out_height = g[1], out_width = g[2], filters = g[3];
    kernel_height = kernel[0], kernel_width = kernel[1];
    stride = request.attributes.get<Shape>("strides")[0];
    top = padding[0], left = padding[2];
  }
};

class WindowProducts final : public Kernel {
 public:
  WindowProducts(const KernelRequest& request, Isa isa)
      : products_(kernels(isa).products),
        cotangent_packing_(request.inputs[1].dtype, isa),
        pairs_(cotangent_packing_.pairs()),
        window_packing_(pairs_ ? DType::bfloat16 : DType::float32, isa),
        widen_(request.inputs[0].dtype == DType::float32 || pairs_
                   ? nullptr
                   : kernels(isa).cast.from_storage[request.inputs[0].dtype].float32),
        x_size_(size_of(request.inputs[0].dtype)),
        sizes_(request),
        columns_(sizes_.kernel_width * sizes_.channels),
        blocks_(round_up(columns_, block_columns) / block_columns),
        panels_(round_up(sizes_.filters, products_.panel) / products_.panel),
        words_(pairs_ ? (sizes_.out_width + 1) / 2 : sizes_.out_width),
        sums_floats_(sizes_.kernel_height * columns_ * panels_ * products_.panel),
        parts_(parts_of(sizes_, sums_floats_)),
        // Panels share evenly, but all threads pack all windows.
        by_panels_(parts_ == 1 && blocks_ < Index{4} * thread_count() && panels_ >= thread_count()),
        threads_(std::min<Index>(thread_count(), shares())) {
    // Sums are read and written once for each chunk of pixels, so a chunk is not too small.
    constexpr Index words_of_chunk = 448, left_words = 1 << 17;
    const Index of_image = sizes_.out_height * words_;
    images_ = std::clamp<Index>(words_of_chunk / of_image, 1, (sizes_.images + parts_ - 1) / parts_);
    const Index chunks = std::max<Index>(1, (of_image + words_of_chunk - 1) / words_of_chunk);
    rows_ = images_ > 1 ? sizes_.out_height : (sizes_.out_height + chunks - 1) / chunks;
    in_rows_ = (rows_ - 1) * sizes_.stride + sizes_.kernel_height;
    // Rows of the image at a distance of the stride belong to the same row of the kernel and lie together.
    phase_words_ = (in_rows_ + sizes_.stride - 1) / sizes_.stride * words_ * block_columns + line;
    block_pitch_ = images_ * sizes_.stride * phase_words_ + line;
    panel_pitch_ = images_ * rows_ * words_ * products_.panel + line;
    tile_ = std::clamp<Index>(left_words / block_pitch_, 1, blocks_);
    padded_row_ = ((sizes_.out_width - 1) * sizes_.stride + sizes_.kernel_width + sizes_.width) * sizes_.channels;
    own_words_ = round_up(tile_ * block_pitch_ + panels_ * panel_pitch_ + padded_row_ + sizes_.filters, line);
    own_ = layout_.take(float_bytes(threads_ * own_words_));
    const Spec& out = request.outputs[0];
    direct_ = parts_ == 1 && out.dtype == DType::float32 && sizes_.filters % products_.panel == 0;
    if (direct_) return;
    sums_ = layout_.take(float_bytes(parts_ * sums_floats_));
    result_ = WideResult(request, layout_);
  }

  void run(const KernelArguments& arguments) override {
    float* const sums = direct_ ? arguments.out<float>(0) : floats_at(arguments, sums_);
    parallel_threads(static_cast<int>(std::min<Index>(threads_, thread_count())), [&](int thread, int count) {
      float* const own = floats_at(arguments, own_) + thread * own_words_;
      Share share{.images = {0, sizes_.images}, .blocks = {0, blocks_}, .panels = {0, panels_}};
      if (parts_ == 1) {
        Range& mine = by_panels_ ? share.panels : share.blocks;
        mine = {mine.end * thread / count, mine.end * (thread + 1) / count};
        return run_share(arguments, share, sums, own);
      }
      for (Index part = parts_ * thread / count; part < parts_ * (thread + 1) / count; ++part) {
        share.images = {sizes_.images * part / parts_, sizes_.images * (part + 1) / parts_};
        run_share(arguments, share, sums + part * sums_floats_, own);
      }
    });
    if (direct_) return;
    float* const wide = result_.place(arguments);
    parallel_for(sizes_.kernel_height * columns_, grain_of(sizes_.filters * parts_), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        sum_blocks(sums + row * panels_ * products_.panel, sums_floats_, parts_, sizes_.filters,
                   wide + row * sizes_.filters);
      }
    });
    result_.finish(arguments);
  }

  Index threads() const { return threads_; }
  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return pairs_ ? "bfloat16 products" : ""; }

 private:
  static constexpr Index line = 16;  // words of a cache line; also the words that packing writes after a row

  struct Range {
    Index begin = 0, end = 0;
  };
  /// Images, blocks of the windows' columns, and panels of filters.
  struct Share {
    Range images, blocks, panels;
  };
  /// Images, and rows of the output.
  struct Chunk {
    Index image, images, row, rows;
  };

  /// Number of shares that threads divide.
  Index shares() const {
    if (parts_ > 1) return parts_;
    return by_panels_ ? panels_ : blocks_;
  }

  /// Parts of the images. Each has sums of its own if these are small; then threads share the images, and none packs
  /// what another one packs. The number doesn't depend on that of threads, so the sums don't.
  static Index parts_of(const Sizes& sizes, Index floats) {
    constexpr Index most_floats = 32768, most_parts = 16, fewest_parts = 4, fewest_pixels = 2048;
    const Index pixels = sizes.images * sizes.out_height * sizes.out_width;
    const Index parts = std::min({most_parts, sizes.images, pixels / fewest_pixels});
    return floats > most_floats || parts < fewest_parts ? 1 : parts;
  }

  Chunk chunk_at(const Share& share, Index image, Index row) const {
    return {image, std::min(images_, share.images.end - image), row, std::min(rows_, sizes_.out_height - row)};
  }

  /// The part of a chunk that is fetched. Rows that also belong to the previous chunk are in the cache.
  PrefetchQueue ahead_of(const KernelArguments& arguments, const Chunk& chunk, Index turns) const {
    if (chunk.images <= 0) return {{}, turns};
    const auto rows_of = [&](std::size_t input, Index height, Index first, Index count, Index row_bytes) {
      const char* const from = arguments.in<char>(input) + (chunk.image * height + first) * row_bytes;
      return Prefetch{from, from + ((chunk.images - 1) * height + count) * row_bytes};
    };
    const Index first = std::min(chunk.row * sizes_.stride, sizes_.height);
    const Index rows = std::min(chunk.rows * sizes_.stride, sizes_.height - first);
    return {{rows_of(0, sizes_.height, first, rows, sizes_.width * sizes_.channels * x_size_),
             rows_of(1, sizes_.out_height, chunk.row, chunk.rows,
                     sizes_.out_width * sizes_.filters * cotangent_packing_.size())},
            turns};
  }

  void run_share(const KernelArguments& arguments, const Share& share, float* sums, float* own) const {
    float *const windows = own, *const cotangents = windows + tile_ * block_pitch_;
    float *const padded = cotangents + panels_ * panel_pitch_, *const wide = padded + padded_row_;
    std::fill_n(padded, padded_row_, 0.0F);
    const Index products =
        (share.blocks.end - share.blocks.begin) * sizes_.kernel_height * (share.panels.end - share.panels.begin);
    for (Index image = share.images.begin; image < share.images.end; image += images_) {
      for (Index row = 0; row < sizes_.out_height; row += rows_) {
        const Chunk chunk = chunk_at(share, image, row);
        // Reading the next chunk takes as long as a part of the products.
        const bool last_rows = row + rows_ >= sizes_.out_height;
        const Chunk next = chunk_at(share, last_rows ? image + images_ : image, last_rows ? 0 : row + rows_);
        const bool first_of_all = image == share.images.begin && row == 0;
        PrefetchQueue ahead = ahead_of(arguments, next, products);
        pack_cotangents(arguments, chunk, share.panels, wide, cotangents);
        for (Index block = share.blocks.begin; block < share.blocks.end; block += tile_) {
          const Range tile{block, std::min(block + tile_, share.blocks.end)};
          pack_windows(arguments, chunk, tile, reinterpret_cast<char*>(padded), windows);
          multiply(chunk, tile, share.panels, windows, cotangents, sums, !first_of_all, ahead);
        }
      }
    }
  }

  void pack_cotangents(const KernelArguments& arguments, const Chunk& chunk, const Range& panels, float* wide,
                       float* to) const {
    const Index first = panels.begin * products_.panel;
    const Columns columns{first, std::min(sizes_.filters, panels.end * products_.panel) - first};
    for (Index i = 0; i < chunk.images * chunk.rows; ++i) {
      const Index row = (chunk.image + i / chunk.rows) * sizes_.out_height + chunk.row + i % chunk.rows;
      cotangent_packing_.panels(arguments.inputs[1], sizes_.filters, columns,
                                {row * sizes_.out_width, sizes_.out_width}, wide,
                                to + panels.begin * panel_pitch_ + i * words_ * products_.panel, panel_pitch_);
    }
  }

  /// Words from a block's begin to the windows of row `row` of the chunk's image `image`.
  Index place(Index image, Index row) const {
    return (image * sizes_.stride + row % sizes_.stride) * phase_words_ + row / sizes_.stride * words_ * block_columns;
  }

  /// The numbers that windows read of row `row` of the images of x, as they are packed: in place, or as a copy in
  /// `padded`.
  const char* row_of_windows(const KernelArguments& arguments, Index row, char* padded) const {
    const Index row_numbers = sizes_.width * sizes_.channels;
    const Index used = ((sizes_.out_width - 1) * sizes_.stride + sizes_.kernel_width) * sizes_.channels;
    const Index before = sizes_.left * sizes_.channels, copied = std::min(row_numbers, used - before);
    const char* const from = arguments.in<char>(0) + row * row_numbers * x_size_;
    if (widen_ == nullptr && before == 0 && copied == used) return from;
    char* const to = padded + before * window_packing_.size();
    if (widen_ != nullptr) {
      widen_(from, to, copied);
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(copied * x_size_));
    }
    return padded;
  }

  void pack_windows(const KernelArguments& arguments, const Chunk& chunk, const Range& tile, char* padded,
                    float* to) const {
    const Index first = tile.begin * block_columns;
    const Columns columns{first, std::min(columns_, tile.end * block_columns) - first};
    const Index rows = (chunk.rows - 1) * sizes_.stride + sizes_.kernel_height;
    for (Index image = 0; image < chunk.images; ++image) {
      for (Index i = 0; i < rows; ++i) {
        const Index row = chunk.row * sizes_.stride + i - sizes_.top;
        float* const at = to + place(image, i);
        if (row < 0 || row >= sizes_.height) {
          for (Index block = 0; block < tile.end - tile.begin; ++block) {
            std::fill_n(at + block * block_pitch_, words_ * block_columns, 0.0F);
          }
          continue;
        }
        const char* const from = row_of_windows(arguments, (chunk.image + image) * sizes_.height + row, padded);
        window_packing_.blocks(from, sizes_.stride * sizes_.channels, columns, {0, sizes_.out_width}, nullptr, at,
                               block_pitch_);
      }
    }
  }

  void multiply(const Chunk& chunk, const Range& tile, const Range& panels, const float* windows,
                const float* cotangents, float* sums, bool accumulate, PrefetchQueue& ahead) const {
    const Index out_width = panels_ * products_.panel;
    for (Index panel = panels.begin; panel < panels.end; ++panel) {
      for (Index row = 0; row < sizes_.kernel_height; ++row) {
        for (Index block = tile.begin; block < tile.end; ++block) {
          const Index column = block * block_columns;
          const float* const a = windows + (block - tile.begin) * block_pitch_ + place(0, row);
          multiply_block(chunk, a, cotangents + panel * panel_pitch_,
                         sums + (row * columns_ + column) * out_width + panel * products_.panel, out_width,
                         std::min(block_columns, columns_ - column), accumulate, ahead.next_turn());
        }
      }
    }
  }

  void multiply_block(const Chunk& chunk, const float* a, const float* b, float* out, Index out_width, Index rows,
                      bool accumulate, const Prefetch& ahead) const {
    const Index depth = chunk.rows * words_;
    if (pairs_) {
      return products_.transposed_pair_product({.a = reinterpret_cast<const bfloat16*>(a),
                                                .a_width = 2 * block_columns,
                                                .b = reinterpret_cast<const bfloat16*>(b),
                                                .out = out,
                                                .out_width = out_width,
                                                .rows = rows,
                                                .pairs = depth,
                                                .accumulate = accumulate,
                                                .segments = chunk.images,
                                                .a_segment = 2 * sizes_.stride * phase_words_,
                                                .b_segment = 2 * depth * products_.panel,
                                                .ahead = ahead});
    }
    products_.transposed_product({.a = a,
                                  .a_width = block_columns,
                                  .b = b,
                                  .b_width = products_.panel,
                                  .out = out,
                                  .out_width = out_width,
                                  .rows = rows,
                                  .depth = depth,
                                  .accumulate = accumulate,
                                  .segments = chunk.images,
                                  .a_segment = sizes_.stride * phase_words_,
                                  .b_segment = depth * products_.panel,
                                  .ahead = ahead});
  }

  const ProductFunctions& products_;
  const RowPacking cotangent_packing_;
  const bool pairs_;  ///< multiplies bfloat16
  const RowPacking window_packing_;
  const CastFunctions::Cast widen_;  ///< of rows of x; null: they are packed as they are
  const Index x_size_;               ///< bytes of a number
  const Sizes sizes_;
  const Index columns_, blocks_, panels_;
  const Index words_;        ///< numbers or pairs of a row of outputs
  const Index sums_floats_;  ///< of one part
  const Index parts_;        ///< of the images, that threads share; 1: they don't
  const bool by_panels_;     ///< threads share the panels, else the blocks
  const Index threads_;
  Index images_ = 1, rows_ = 1, in_rows_ = 1;  ///< of a chunk; rows of the outputs and of the image
  Index tile_ = 1;                             ///< blocks that are packed at a time
  Index phase_words_ = 0, block_pitch_ = 0, panel_pitch_ = 0, padded_row_ = 0, own_words_ = 0;
  bool direct_ = false;  ///< sums are made in the output
  ScratchLayout layout_;
  std::size_t own_ = 0, sums_ = 0;
  WideResult result_;
};

/// True if products in float32 are faster than oneDNN's gradient. On Zen 4, one core, kernels with strides reach 93 to
/// 105 GFLOP/s with AVX2 and with AVX-512, in oneDNN 43 to 99. Windows of 1 x 1 are packed for one product, so those of
/// few channels reach 49 to 87, in oneDNN 56 to 103.
bool suits_floats(const Shape& kernel, const Shape& strides) {
  constexpr Index fewest_of_pixels = 256;
  return strides != Shape{1, 1} && (kernel[0] * kernel[1] > 1 || kernel[2] >= fewest_of_pixels);
}

}  // namespace

std::unique_ptr<Kernel> make_window_products(const KernelRequest& request, Isa isa, std::string& reason) {
  const Spec &x = request.inputs[0], &g = request.inputs[1], &out = request.outputs[0];
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto groups = request.attributes.get<Index>("groups");
  if (groups != 1 || request.attributes.get<Shape>("dilation") != Shape{1, 1} || strides[0] != strides[1]) {
    return decline(reason, "takes one group, dilation 1 and equal strides; got {} groups, dilation {}, strides {}",
                   groups, request.attributes.get<Shape>("dilation"), strides);
  }
  if (!is_stored(x.dtype) || x.dtype != g.dtype || !is_stored(out.dtype)) {
    return decline(reason, "takes float32, bfloat16 and float16, and operands of one dtype; got {} and {}", x.dtype,
                   g.dtype);
  }
  const bool pairs = x.dtype == DType::bfloat16 && multiplies_pairs(kernels(isa).products);
  if (!pairs && !suits_floats(out.shape, strides)) {
    return decline(reason,
                   "takes kernels with strides, of 1 x 1 those with 256 channels, unless bfloat16 is fast; got {}, "
                   "strides {} and {}",
                   out.shape, strides, x.dtype);
  }
  constexpr Index fewest_columns = 9, fewest_filters = 16, fewest_pixels = 512;
  const Index columns = out.shape[1] * out.shape[2], pixels = element_count(g.shape) / g.shape[3];
  if (columns < fewest_columns || g.shape[3] < fewest_filters || pixels < fewest_pixels) {
    return decline(reason, "takes at least {} numbers of a window's row, {} filters and {} pixels; got {}, {} and {}",
                   fewest_columns, fewest_filters, fewest_pixels, columns, g.shape[3], pixels);
  }
  auto kernel = std::make_unique<WindowProducts>(request, isa);
  if (kernel->threads() < thread_count()) {
    return decline(reason, "takes kernels that all threads can share; got shape {} and {} threads", out.shape,
                   thread_count());
  }
  return kernel;
}

}  // namespace mezzo::xsimd_kernels
