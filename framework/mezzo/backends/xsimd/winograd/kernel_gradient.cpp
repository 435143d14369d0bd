#include <algorithm>
#include <atomic>
#include <cstring>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/winograd/geometry.hpp>
#include <mezzo/backends/xsimd/winograd/tile_rows.hpp>
#include <mezzo/backends/xsimd/winograd/winograd.hpp>

namespace mezzo::xsimd_kernels {
namespace {

class KernelGradient final : public Kernel {
 public:
  /// With `normalizes`, the kernel of normalized_conv2d_kernel_gradient.
  KernelGradient(Isa isa, const KernelRequest& request, bool normalizes)
      : products_(kernels(isa).products),
        geometry_(winograd::of_kernel_gradient(request)),
        images_(request, normalizes, geometry_, isa, layout_),
        gather_x_(kernels(isa).winograd.gather[request.inputs[0].dtype]),
        gather_y_(kernels(isa).winograd.gather_output[request.inputs[1].dtype]),
        occupied_x_(kernels(isa).winograd.occupied[request.inputs[0].dtype]),
        occupied_y_(kernels(isa).winograd.occupied[request.inputs[1].dtype]),
        gradient_(kernels(isa).winograd.kernel_gradient[request.outputs[0].dtype]),
        tap_bytes_(bytes_of(request.outputs[0]) / taps) {
    const std::int64_t channels = geometry_.x.channels;
    const std::int64_t filters = round_up(geometry_.y.channels, products_.panel);
    // The size doesn't depend on the number of threads, so that the sums don't.
    chunk_ = std::min(geometry_.tiles, channels + filters <= 256 ? std::int64_t{96} : std::int64_t{256});
    x_ = winograd::points(nullptr, chunk_, spread_width(channels));
    y_ = winograd::points(nullptr, chunk_, spread_width(filters));
    one_chunk_ = chunk_ == geometry_.tiles;
    sums_ = winograd::points(nullptr, one_chunk_ ? std::min(rows_at_once, channels) : channels, filters);
    points_ = layout_.take(float_bytes(winograd::floats_of(x_) + winograd::floats_of(y_) +
                                       (one_chunk_ ? images_.threads() : 1) * winograd::floats_of(sums_)));
  }

  void run(const KernelArguments& arguments) override {
    Points x = x_, y = y_, sums = sums_;
    x.data = floats_at(arguments, points_);
    y.data = x.data + winograd::floats_of(x);
    sums.data = y.data + winograd::floats_of(y);
    images_.prepare(arguments);
    if (one_chunk_) {
      gather(arguments, 0, geometry_.tiles, x, y);
      run_by_rows(arguments, x, y, sums);
    } else {
      run_by_chunks(arguments, x, y, sums);
    }
    const unsigned used = used_taps(arguments);
    for (unsigned tap = 0; tap < taps; ++tap) {
      if ((used >> tap & 1U) == 0) std::memset(arguments.out<char>(0) + tap * tap_bytes_, 0, tap_bytes_);
    }
  }
  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return "F(4x4,3x3)"; }

 private:
  static constexpr std::size_t taps = 9;
  static constexpr std::int64_t rows_at_once = 48;  ///< whole blocks of products

  /// Transforms `count` tiles from `first` on.
  void gather(const KernelArguments& arguments, std::int64_t first, std::int64_t count, const Points& x,
              const Points& y) const {
    parallel_ranges(count, 8, images_.threads(), [&](int thread, std::int64_t begin, std::int64_t end) {
      for (std::int64_t from = begin; from < end; from += images_.step()) {
        const std::int64_t to = std::min(end, from + images_.step());
        const void* const in = images_.under(arguments, thread, first + from, first + to);
        gather_x_(in, geometry_.x, first + from, first + to, from_row(x, from));
      }
      gather_y_(arguments.inputs[1], geometry_.y, first + begin, first + end, from_row(y, begin));
    });
  }

  /// Sums over `depth` tiles, of `rows` channels from `channel` on and a panel of filters, at one point.
  void multiply(const Points& x, const Points& y, const Points& sums, std::int64_t point, std::int64_t panel,
                std::int64_t channel, std::int64_t rows, std::int64_t depth, bool accumulate) const {
    const std::int64_t column = panel * products_.panel;
    products_.transposed_product({.a = x.data + point * x.pitch + channel,
                                  .a_width = x.width,
                                  .b = y.data + point * y.pitch + column,
                                  .b_width = y.width,
                                  .out = sums.data + point * sums.pitch + column,
                                  .out_width = sums.width,
                                  .rows = rows,
                                  .depth = depth,
                                  .accumulate = accumulate});
  }

  void run_by_chunks(const KernelArguments& arguments, const Points& x, const Points& y, const Points& sums) const {
    const std::int64_t panels = sums.width / products_.panel, channels = geometry_.x.channels;
    for (std::int64_t first = 0; first < geometry_.tiles; first += chunk_) {
      const std::int64_t count = std::min(chunk_, geometry_.tiles - first);
      gather(arguments, first, count, x, y);
      parallel_for(winograd_points * panels, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          multiply(x, y, sums, i / panels, i % panels, 0, channels, count, first > 0);
        }
      });
    }
    parallel_for(channels, 4, [&](std::int64_t begin, std::int64_t end) {
      gradient_(sums, channels, geometry_.y.channels, begin, end, arguments.outputs[0]);
    });
  }

  /// For a single chunk: a thread computes some channels at a time, since the points of a large kernel take four times
  /// its memory.
  void run_by_rows(const KernelArguments& arguments, const Points& x, const Points& y, const Points& sums) const {
    const std::int64_t panels = sums.width / products_.panel, channels = geometry_.x.channels;
    const std::int64_t units = round_up(channels, block_columns) / block_columns;
    parallel_ranges(units, 1, images_.threads(), [&](int thread, std::int64_t begin, std::int64_t end) {
      Points own = sums;
      own.data += thread * winograd::floats_of(sums);
      const std::int64_t last = std::min(channels, end * block_columns);
      for (std::int64_t first = begin * block_columns; first < last; first += rows_at_once) {
        const std::int64_t rows = std::min(rows_at_once, last - first);
        for (std::int64_t i = 0; i < winograd_points * panels; ++i) {
          multiply(x, y, own, i / panels, i % panels, first, rows, geometry_.tiles, false);
        }
        // The function counts rows from the first channel.
        gradient_(from_row(own, -first), channels, geometry_.y.channels, first, first + rows, arguments.outputs[0]);
      }
    });
  }

  /// Taps of the kernel with a product that isn't 0 in some tile. The gradient of the others is exactly 0; the
  /// transforms would add rounding errors.
  unsigned used_taps(const KernelArguments& arguments) const {
    constexpr unsigned all = (1U << taps) - 1;
    constexpr std::int64_t usually_enough = 16;  // tiles
    std::atomic<unsigned> used{0};
    const auto look = [&](int thread, std::int64_t begin, std::int64_t end) {
      for (; begin < end && used != all; begin += usually_enough) {
        const std::int64_t last = std::min(end, begin + usually_enough);
        const void* const in = images_.under(arguments, thread, begin, last);
        for (std::int64_t tile = begin; tile < last && used != all; ++tile) used |= taps_of(arguments, in, tile);
      }
    };
    look(0, 0, std::min(usually_enough, geometry_.tiles));
    if (used == all) return all;
    parallel_ranges(geometry_.tiles, usually_enough, images_.threads(), look);
    return used;
  }

  /// Taps with a product that isn't 0 in a tile of images `in`.
  unsigned taps_of(const KernelArguments& arguments, const void* in, std::int64_t tile) const {
    constexpr std::uint64_t pixels_of_x = (std::uint64_t{1} << 36) - 1, pixels_of_y = 0x3cf3cf;
    const std::uint64_t y = occupied_y_(arguments.inputs[1], geometry_.y, tile, pixels_of_y);
    if (y == 0) return 0;
    const std::uint64_t x = occupied_x_(in, geometry_.x, tile, pixels_of_x);
    unsigned found = 0;
    for (unsigned tap = 0; tap < taps; ++tap) found |= (x >> (tap / 3 * 6 + tap % 3) & y) != 0 ? 1U << tap : 0;
    return found;
  }

  static Points from_row(Points points, std::int64_t row) {
    points.data += row * points.width;
    return points;
  }

  const ProductFunctions& products_;
  winograd::Geometry geometry_;
  ScratchLayout layout_;
  winograd::TileRows images_;
  WinogradFunctions::Gather gather_x_, gather_y_;
  WinogradFunctions::Occupied occupied_x_, occupied_y_;
  WinogradFunctions::KernelGradient gradient_;
  std::size_t tap_bytes_;
  std::int64_t chunk_ = 0;
  bool one_chunk_ = false;
  Points x_, y_, sums_;
  std::size_t points_ = 0;  ///< offset in scratch memory
};

}  // namespace

std::unique_ptr<Kernel> winograd::make_kernel_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& x = request.inputs[0].shape;
  if (!takes(request, x, request.outputs[0].shape, request.inputs[1].shape, reason)) return nullptr;
  return std::make_unique<KernelGradient>(isa, request, false);
}

std::unique_ptr<Kernel> winograd::make_normalized_kernel_gradient(const KernelRequest& request, Isa isa,
                                                                  std::string& reason) {
  if (!takes_normalized(request, reason)) return nullptr;
  if (!takes(request, request.inputs[0].shape, request.outputs[0].shape, request.inputs[1].shape, reason))
    return nullptr;
  return std::make_unique<KernelGradient>(isa, request, true);
}

}  // namespace mezzo::xsimd_kernels
