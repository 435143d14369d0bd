#include <algorithm>
#include <memory>

#include <mezzo/backends/common/random.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/int8/int8_entries.hpp>
#include <mezzo/backends/xsimd/int8/tile_products.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/core/int8_tiles.hpp>

// Gradients of kernels by tiles: both operands are quantized and packed, then each thread computes tiles of the result.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;
using detail::tile_size;

/// Places of an operand's codes, scales and starts in scratch memory.
struct TileMemory {
  std::size_t codes = 0, scales = 0, starts = 0;
  Index panels = 0, tiles = 0;

  TileMemory(Index rows, Index columns, bool has_starts, ScratchLayout& layout)
      : panels(detail::tiles_of(columns)), tiles(detail::tiles_of(rows)) {
    const auto all = static_cast<std::size_t>(panels * tiles);
    codes = layout.take(all * tile_size * tile_size);
    scales = layout.take(all * sizeof(float));
    if (has_starts) starts = layout.take(all * tile_size * sizeof(std::int32_t));
  }
};

class TileMatmulKernel final : public Kernel {
 public:
  TileMatmulKernel(const KernelRequest& request, Isa isa)
      : functions_(kernels(isa).tile_products),
        in_(request.inputs[0].dtype),
        out_(request.outputs[0].dtype),
        rows_(request.inputs[0].shape[0]),
        depth_(request.inputs[0].shape[1]),
        columns_(request.inputs[1].shape[1]),
        key_(request.attributes.get<std::int64_t>("key")),
        x_(rows_, depth_, false, layout_),
        g_(rows_, columns_, true, layout_) {}

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    const auto codes_of = [&](const TileMemory& memory) {
      return TilesToCodes{.rows = rows_,
                          .to = reinterpret_cast<std::uint8_t*>(scratch + memory.codes),
                          .scales = reinterpret_cast<float*>(scratch + memory.scales)};
    };
    TilesToCodes x = codes_of(x_), g = codes_of(g_);
    x.from = arguments.inputs[0];
    x.columns = depth_;
    g.from = arguments.inputs[1];
    g.columns = columns_;
    g.starts = reinterpret_cast<std::int32_t*>(scratch + g_.starts);
    g.stream = step_stream(key_, *arguments.in<double>(2), *arguments.in<double>(3));
    quantize(x, x_, tile_size, functions_.quantize_inputs[in_]);
    quantize(g, g_, detail::TileNoise::group, functions_.quantize_gradients[in_]);
    multiply(x, g, arguments.outputs[0]);
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return "VNNI, tiles"; }

 private:
  /// Calls `function` for each tile of rows and `width` columns.
  static void quantize(const TilesToCodes& all, const TileMemory& memory, Index width,
                       TileFunctions::Quantize function) {
    const Index across = (all.columns + width - 1) / width;
    parallel_for(memory.tiles * across, grain_of(tile_size * width), [&](Index begin, Index end) {
      TilesToCodes one = all;
      for (Index i = begin; i < end; ++i) {
        one.tile = i / across;
        one.column = i % across * width;
        function(one);
      }
    });
  }

  void multiply(const TilesToCodes& x, const TilesToCodes& g, void* out) const {
    const Index tiles = x_.tiles, panel_bytes = tiles * tile_size * tile_size;
    const auto product = functions_.product[out_];
    parallel_for(x_.panels * g_.panels, grain_of(tile_size * tile_size * rows_), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Index of_x = i / g_.panels, of_g = i % g_.panels, row = of_x * tile_size, column = of_g * tile_size;
        product({.x = x.to + of_x * panel_bytes,
                 .x_scales = x.scales + of_x * tiles,
                 .g = g.to + of_g * panel_bytes,
                 .g_scales = g.scales + of_g * tiles,
                 .starts = g.starts + of_g * tiles * tile_size,
                 .tiles = tiles,
                 .out = static_cast<char*>(out) + (row * columns_ + column) * size_of(out_),
                 .out_width = columns_,
                 .rows = std::min(tile_size, depth_ - row),
                 .columns = std::min(tile_size, columns_ - column)});
      }
    });
  }

  const TileFunctions& functions_;
  const DType in_, out_;
  const Index rows_, depth_, columns_;
  const std::int64_t key_;
  ScratchLayout layout_;
  const TileMemory x_, g_;
};

bool is_code_operand(DType dtype) { return dtype == DType::float32 || dtype == DType::bfloat16; }

std::unique_ptr<Kernel> make_tile_matmul(const KernelRequest& request, Isa isa, std::string& reason) {
  if (isa < Isa::avx512 || !has_int8_products()) return decline(reason, "needs AVX-512 with VNNI");
  for (const Spec* const spec : {&request.inputs[0], &request.outputs[0]}) {
    if (!is_code_operand(spec->dtype)) return decline(reason, "takes float32 and bfloat16; got {}", spec->dtype);
  }
  if (request.inputs[1].dtype != request.inputs[0].dtype) return decline(reason, "takes operands of one dtype");
  return std::make_unique<TileMatmulKernel>(request, isa);
}

}  // namespace

Entries tile_entries() { return {entry<make_tile_matmul>("tile_matmul")}; }

}  // namespace mezzo::xsimd_kernels
