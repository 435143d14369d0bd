#include <mezzo/backends/xsimd/window_products.hpp>

#include <algorithm>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/row_packing.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>
#include <mezzo/backends/xsimd/window_copies.hpp>

// The window of an output pixel in one row of the image, kernel width x channels numbers, lies without gaps in memory.
// Therefore the gradient for one row of the kernel is a product a^T g, where a has a row for the window of each pixel.
// Windows are packed for the product: in bfloat16 as pairs that follow each other in a row, if the instruction set
// multiplies them, else as float32.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

class WindowProducts final : public Kernel {
 public:
  WindowProducts(const KernelRequest& request, Isa isa)
      : products_(kernels(isa).products),
        packing_(request.inputs[1].dtype, isa),
        sizes_(request),
        windows_(request, sizes_, isa),
        columns_(windows_.columns()),
        blocks_(round_up(columns_, block_columns) / block_columns),
        panels_(round_up(sizes_.filters, products_.panel) / products_.panel),
        words_(packing_.words(sizes_.out_width)),
        sums_floats_(sizes_.kernel_height * columns_ * panels_ * products_.panel),
        parts_(parts_of(sizes_, sums_floats_)),
        // Panels share evenly, but all threads pack all windows.
        by_panels_(parts_ == 1 && blocks_ < Index{4} * thread_count() && panels_ >= thread_count()),
        groups_(parts_ == 1 ? 1 : std::clamp<Index>((Index{2} * thread_count() + parts_ - 1) / parts_, 1, blocks_)),
        threads_(std::min<Index>(thread_count(), shares())) {
    // Sums are read and written once for each chunk of pixels, so a chunk is not too small.
    constexpr Index words_of_chunk = 448, left_words = 1 << 17;
    const Index of_image = sizes_.out_height * words_;
    images_ = std::clamp<Index>(words_of_chunk / of_image, 1, (sizes_.images + parts_ - 1) / parts_);
    const Index chunks = std::max<Index>(1, (of_image + words_of_chunk - 1) / words_of_chunk);
    rows_ = images_ > 1 ? sizes_.out_height : (sizes_.out_height + chunks - 1) / chunks;
    windows_.set_chunk(images_, rows_);
    panel_pitch_ = images_ * rows_ * words_ * products_.panel + line;
    tile_ = std::clamp<Index>(left_words / windows_.block_pitch(), 1, blocks_);
    own_words_ = round_up(tile_ * windows_.block_pitch() + panels_ * panel_pitch_ + windows_.row_floats(), line);
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
      for (Index i = shares() * thread / count; i < shares() * (thread + 1) / count; ++i) {
        const Index part = i / groups_, group = i % groups_;
        share.images = {sizes_.images * part / parts_, sizes_.images * (part + 1) / parts_};
        share.blocks = {blocks_ * group / groups_, blocks_ * (group + 1) / groups_};
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
  std::string detail() const override { return packing_.pairs() ? "bfloat16 products" : ""; }

 private:
  static constexpr Index line = 16;  // words of a cache line

  struct Range {
    Index begin = 0, end = 0;
  };
  /// Images, blocks of the windows' columns, and panels of filters.
  struct Share {
    Range images, blocks, panels;
  };
  /// Number of shares that threads divide.
  Index shares() const {
    if (parts_ > 1) return parts_ * groups_;
    return by_panels_ ? panels_ : blocks_;
  }

  /// Parts of the images. Each has sums of its own if these are small; then threads share the images, and none packs
  /// what another one packs. The number doesn't depend on that of threads, so the sums don't.
  static Index parts_of(const WindowSizes& sizes, Index floats) {
    constexpr Index most_floats = 32768, most_parts = 16, fewest_parts = 4, fewest_pixels = 2048;
    const Index pixels = sizes.images * sizes.out_height * sizes.out_width;
    const Index parts = std::min({most_parts, sizes.images, pixels / fewest_pixels});
    return floats > most_floats || parts < fewest_parts ? 1 : parts;
  }

  WindowChunk chunk_at(const Share& share, Index image, Index row) const {
    return {image, std::min(images_, share.images.end - image), row, std::min(rows_, sizes_.out_height - row)};
  }

  /// The part of a chunk that is fetched. Rows that also belong to the previous chunk are in the cache.
  PrefetchQueue ahead_of(const KernelArguments& arguments, const WindowChunk& chunk, Index turns) const {
    if (chunk.images <= 0) return {{}, turns};
    const auto rows_of = [&](std::size_t input, Index height, Index first, Index count, Index row_bytes) {
      const char* const from = arguments.in<char>(input) + (chunk.image * height + first) * row_bytes;
      return Prefetch{from, from + ((chunk.images - 1) * height + count) * row_bytes};
    };
    const Index first = std::min(chunk.row * sizes_.stride, sizes_.height);
    const Index rows = std::min(chunk.rows * sizes_.stride, sizes_.height - first);
    return {{rows_of(0, sizes_.height, first, rows, windows_.row_bytes()),
             rows_of(1, sizes_.out_height, chunk.row, chunk.rows, sizes_.out_width * sizes_.filters * packing_.size())},
            turns};
  }

  void run_share(const KernelArguments& arguments, const Share& share, float* sums, float* own) const {
    float *const windows = own, *const cotangents = windows + tile_ * windows_.block_pitch();
    float* const row_copy = cotangents + panels_ * panel_pitch_;
    std::fill_n(row_copy, windows_.row_floats(), 0.0F);
    const Index products =
        (share.blocks.end - share.blocks.begin) * sizes_.kernel_height * (share.panels.end - share.panels.begin);
    for (Index image = share.images.begin; image < share.images.end; image += images_) {
      for (Index row = 0; row < sizes_.out_height; row += rows_) {
        const WindowChunk chunk = chunk_at(share, image, row);
        // Reading the next chunk takes as long as a part of the products.
        const bool last_rows = row + rows_ >= sizes_.out_height;
        const WindowChunk next = chunk_at(share, last_rows ? image + images_ : image, last_rows ? 0 : row + rows_);
        const bool first_of_all = image == share.images.begin && row == 0;
        PrefetchQueue ahead = ahead_of(arguments, next, products);
        pack_cotangents(arguments, chunk, share.panels, cotangents);
        for (Index block = share.blocks.begin; block < share.blocks.end; block += tile_) {
          const Range tile{block, std::min(block + tile_, share.blocks.end)};
          windows_.pack(arguments, chunk, tile.begin, tile.end, row_copy, windows);
          multiply(chunk, tile, share.panels, windows, cotangents, sums, !first_of_all, ahead);
        }
      }
    }
  }

  void pack_cotangents(const KernelArguments& arguments, const WindowChunk& chunk, const Range& panels,
                       float* to) const {
    const Index first = panels.begin * products_.panel;
    const Columns columns{first, std::min(sizes_.filters, panels.end * products_.panel) - first};
    for (Index i = 0; i < chunk.images * chunk.rows; ++i) {
      const Index row = (chunk.image + i / chunk.rows) * sizes_.out_height + chunk.row + i % chunk.rows;
      packing_.panels(arguments.inputs[1], sizes_.filters, columns, {row * sizes_.out_width, sizes_.out_width},
                      to + panels.begin * panel_pitch_ + i * words_ * products_.panel, panel_pitch_);
    }
  }

  void multiply(const WindowChunk& chunk, const Range& tile, const Range& panels, const float* windows,
                const float* cotangents, float* sums, bool accumulate, PrefetchQueue& ahead) const {
    const Index out_width = panels_ * products_.panel, depth = chunk.rows * words_;
    for (Index panel = panels.begin; panel < panels.end; ++panel) {
      for (Index row = 0; row < sizes_.kernel_height; ++row) {
        for (Index block = tile.begin; block < tile.end; ++block) {
          const Index column = block * block_columns;
          packing_.multiply({.a = windows + (block - tile.begin) * windows_.block_pitch() + windows_.place(row),
                             .b = cotangents + panel * panel_pitch_,
                             .out = sums + (row * columns_ + column) * out_width + panel * products_.panel,
                             .out_width = out_width,
                             .rows = std::min(block_columns, columns_ - column),
                             .depth = depth,
                             .accumulate = accumulate,
                             .segments = chunk.images,
                             .a_segment = windows_.image_pitch(),
                             .b_segment = depth * products_.panel,
                             .ahead = ahead.next_turn()});
        }
      }
    }
  }

  const ProductFunctions& products_;
  const RowPacking packing_;  ///< of the cotangents
  const WindowSizes sizes_;
  WindowCopies windows_;
  const Index columns_, blocks_, panels_;
  const Index words_;        ///< of a row of outputs
  const Index sums_floats_;  ///< of one part
  const Index parts_;        ///< of the images, that threads share; 1: they don't
  const bool by_panels_;     ///< threads share the panels, else the blocks
  const Index groups_;       ///< of blocks in a part, so that many threads have enough shares
  const Index threads_;
  Index images_ = 1, rows_ = 1;  ///< of a chunk
  Index tile_ = 1;               ///< blocks that are packed at a time
  Index panel_pitch_ = 0, own_words_ = 0;
  bool direct_ = false;  ///< sums are made in the output
  ScratchLayout layout_;
  std::size_t own_ = 0, sums_ = 0;
  WideResult result_;
};

/// Fewest channels of a kernel of 1 x 1 in float32, whose windows are packed for one product.
constexpr Index fewest_channels_of_1x1 = 256;

/// True if products in float32 are faster than oneDNN's gradient. On Zen 4, one core, kernels with strides reach 92 to
/// 105 GFLOP/s with AVX2 and with AVX-512, in oneDNN 46 to 93. Those of 1 x 1 with fewer channels reach 49 to 62 with
/// AVX2, in oneDNN 56 to 91.
bool suits_floats(const Shape& kernel, const Shape& strides) {
  return strides != Shape{1, 1} && (kernel[0] * kernel[1] > 1 || kernel[2] >= fewest_channels_of_1x1);
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
  if (!RowPacking(x.dtype, isa).pairs() && !suits_floats(out.shape, strides)) {
    return decline(reason,
                   "takes kernels with strides, of 1 x 1 those with at least {} channels, unless bfloat16 is fast; got "
                   "{}, strides {} and {}",
                   fewest_channels_of_1x1, out.shape, strides, x.dtype);
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
