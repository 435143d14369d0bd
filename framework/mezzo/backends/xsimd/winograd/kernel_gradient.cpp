#include <algorithm>
#include <atomic>
#include <cstring>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/winograd/geometry.hpp>
#include <mezzo/backends/xsimd/winograd/winograd.hpp>

namespace mezzo::xsimd_kernels {
namespace {

class KernelGradient final : public Kernel {
 public:
  KernelGradient(Isa isa, const KernelRequest& request)
      : products_(kernels(isa).products),
        geometry_(winograd::of_kernel_gradient(request)),
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
    sums_ = winograd::points(nullptr, channels, filters);
  }

  void run(const KernelArguments& arguments) override {
    Points x = x_, y = y_, sums = sums_;
    x.data = static_cast<float*>(arguments.scratch);
    y.data = x.data + winograd::floats_of(x);
    sums.data = y.data + winograd::floats_of(y);
    for (std::int64_t first = 0; first < geometry_.tiles; first += chunk_) {
      const std::int64_t count = std::min(chunk_, geometry_.tiles - first);
      parallel_for(count, 8, [&](std::int64_t begin, std::int64_t end) {
        gather_x_(arguments.inputs[0], geometry_.x, first + begin, first + end, from_row(x, begin));
        gather_y_(arguments.inputs[1], geometry_.y, first + begin, first + end, from_row(y, begin));
      });
      const std::int64_t panels = sums.width / products_.panel;
      parallel_for(winograd_points * panels, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t point = i / panels, column = i % panels * products_.panel;
          products_.transposed_product({.a = x.data + point * x.pitch,
                                        .a_width = x.width,
                                        .b = y.data + point * y.pitch + column,
                                        .b_width = y.width,
                                        .out = sums.data + point * sums.pitch + column,
                                        .out_width = sums.width,
                                        .rows = geometry_.x.channels,
                                        .depth = count,
                                        .accumulate = first > 0});
        }
      });
    }
    parallel_for(geometry_.x.channels, 4, [&](std::int64_t begin, std::int64_t end) {
      gradient_(sums, geometry_.x.channels, geometry_.y.channels, begin, end, arguments.outputs[0]);
    });
    const unsigned used = used_taps(arguments);
    for (unsigned tap = 0; tap < taps; ++tap) {
      if ((used >> tap & 1U) == 0) std::memset(arguments.out<char>(0) + tap * tap_bytes_, 0, tap_bytes_);
    }
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(winograd::floats_of(x_) + winograd::floats_of(y_) + winograd::floats_of(sums_)) *
           sizeof(float);
  }
  std::string detail() const override { return "F(4x4,3x3)"; }

 private:
  static constexpr std::size_t taps = 9;

  /// Taps of the kernel with a product that isn't 0 in some tile. The gradient of the others is exactly 0; the
  /// transforms would add rounding errors.
  unsigned used_taps(const KernelArguments& arguments) const {
    constexpr unsigned all = (1U << taps) - 1;
    constexpr std::uint64_t pixels_of_x = (std::uint64_t{1} << 36) - 1, pixels_of_y = 0x3cf3cf;
    std::atomic<unsigned> used{0};
    const auto look = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t tile = begin; tile < end && used != all; ++tile) {
        const std::uint64_t y = occupied_y_(arguments.inputs[1], geometry_.y, tile, pixels_of_y);
        if (y == 0) continue;
        const std::uint64_t x = occupied_x_(arguments.inputs[0], geometry_.x, tile, pixels_of_x);
        unsigned found = 0;
        for (unsigned tap = 0; tap < taps; ++tap) found |= (x >> (tap / 3 * 6 + tap % 3) & y) != 0 ? 1U << tap : 0;
        used |= found;
      }
    };
    constexpr std::int64_t usually_enough = 16;
    look(0, std::min(usually_enough, geometry_.tiles));
    if (used == all) return all;
    parallel_for(geometry_.tiles, usually_enough, look);
    return used;
  }

  static Points from_row(Points points, std::int64_t row) {
    points.data += row * points.width;
    return points;
  }

  const ProductFunctions& products_;
  winograd::Geometry geometry_;
  WinogradFunctions::Gather gather_x_, gather_y_;
  WinogradFunctions::Occupied occupied_x_, occupied_y_;
  WinogradFunctions::KernelGradient gradient_;
  std::size_t tap_bytes_;
  std::int64_t chunk_ = 0;
  Points x_, y_, sums_;
};

}  // namespace

std::unique_ptr<Kernel> winograd::make_kernel_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& x = request.inputs[0].shape;
  if (!takes(request, x, request.outputs[0].shape, request.inputs[1].shape, reason)) return nullptr;
  return std::make_unique<KernelGradient>(isa, request);
}

}  // namespace mezzo::xsimd_kernels
