#include <algorithm>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/implementations.hpp>
#include <mezzo/backends/xsimd/winograd/geometry.hpp>
#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

using namespace xsimd_kernels;
using winograd::Geometry;

/// Costs of a call besides its products at the points, in units of products. Fitted on AVX512_BF16, 2 cores, 1 to 128
/// images of 7 to 112 pixels and 16 to 1024 channels, to within 20 %; on AVX2 the gain is 1.2 to 1.5 times as large.
struct Costs {
  double channel;  ///< transforms of images, as products of this many channels
  double kernel;   ///< transforms of the kernel, as products of this many tiles; twice as many for a large kernel
};
constexpr Costs convolution_costs{.channel = 6, .kernel = 25};
constexpr Costs input_gradient_costs{.channel = 6, .kernel = 40};
constexpr Costs kernel_gradient_costs{.channel = 20, .kernel = 0};
constexpr double large_kernel = 1 << 17;  // channels times filters from which on the 36 points exceed the caches
constexpr double product_rate = 0.68;     // rate of the products, as a fraction of the rate of oneDNN's direct kernels

/// Estimated speed relative to oneDNN in float32.
double gain(const Geometry& geometry, const Costs& costs) {
  const TiledImages& out = geometry.y;
  const auto channels = static_cast<double>(geometry.x.channels), filters = static_cast<double>(out.channels);
  const auto columns = static_cast<double>(round_up(out.channels, kernels(isa()).products.panel));
  const double used = static_cast<double>(out.height * out.width) / static_cast<double>(16 * out.down * out.across);
  constexpr double most = 9.0 * 16 / winograd_points;  // products of a tile: sum over the kernel / this algorithm
  const double of_kernel = costs.kernel * (channels * filters > large_kernel ? 2 : 1);
  const double overhead =
      costs.channel / channels + costs.channel / columns + of_kernel / static_cast<double>(geometry.tiles);
  return product_rate * most * used * filters / columns / (1 + overhead);
}

/// xsimd's kernel, if it should be faster than oneDNN's.
template <Geometry (*geometry_of)(const KernelRequest&), const Costs& costs>
std::unique_ptr<Kernel> create(const KernelRequest& request, std::string& reason) {
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype != DType::float32) return decline(reason, "takes float32 operands; got {}", spec.dtype);
    }
  }
  const std::optional<bool>& chosen = kernel_options().float32_winograd;
  if (chosen && !*chosen) return decline(reason, "turned off by float32_winograd of the Trainer");
  if (!chosen && detail::turned_off("MEZZO_FLOAT32_WINOGRAD")) {
    return decline(reason, "turned off by MEZZO_FLOAT32_WINOGRAD=0");
  }
  auto kernel = xsimd_kernel(request, isa(), reason);
  if (!kernel) return nullptr;
  // With fewer it saves little time. Small networks in float32 then round as oneDNN's plain sums do, and so as PyTorch:
  // 20 losses of the CNN on Fashion-MNIST differ by 1.2e-7, with Winograd's algorithm by 1.8e-5.
  constexpr std::int64_t fewest = 64;
  const Geometry geometry = geometry_of(request);
  const std::int64_t channels = geometry.x.channels, filters = geometry.y.channels;
  if (std::min(channels, filters) < fewest) {
    return decline(reason, "takes at least {} channels and filters; got {} and {}", fewest, channels, filters);
  }
  constexpr double worthwhile = 1.1;
  const double speed = gain(geometry, costs);
  if (speed < worthwhile) {
    return decline(reason, "takes convolutions with an estimated speed of {} times oneDNN's; got {:.2f}", worthwhile,
                   speed);
  }
  return kernel;
}

}  // namespace

std::vector<Implementation> winograd_implementations() {
  return {{"winograd", &ops::conv2d, create<winograd::of_convolution, convolution_costs>},
          {"winograd", &ops::conv2d_input_gradient, create<winograd::of_input_gradient, input_gradient_costs>},
          {"winograd", &ops::conv2d_kernel_gradient, create<winograd::of_kernel_gradient, kernel_gradient_costs>}};
}

}  // namespace mezzo
