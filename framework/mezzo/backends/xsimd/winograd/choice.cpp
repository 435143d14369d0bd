#include <algorithm>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/implementations.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/winograd/geometry.hpp>
#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

using namespace xsimd_kernels;
using winograd::Geometry;

/// Costs of a call besides its products at the points, in units of products, and the rate of the products.
struct Costs {
  double channel;  ///< transforms of images, as products of this many channels
  double kernel;   ///< transforms of the kernel, as products of this many tiles; twice as many for a large kernel
  double rate;     ///< rate of the products, as a fraction of the rate of oneDNN's direct kernels
};
/// Costs for float32 operands, fitted on AVX512_BF16, 2 cores, 1 to 128 images of 7 to 112 pixels and 16 to 1024
/// channels, to within 20 %; on AVX2 the gain is 1.2 to 1.5 times as large.
constexpr Costs convolution_costs{.channel = 6, .kernel = 25, .rate = 0.68};
constexpr Costs input_gradient_costs{.channel = 6, .kernel = 40, .rate = 0.68};
constexpr Costs kernel_gradient_costs{.channel = 20, .kernel = 0, .rate = 0.68};
/// Costs for bfloat16 operands on a CPU that multiplies bfloat16 at twice the rate of float32; oneDNN then computes in
/// bfloat16. Fitted on Zen 5, 2 cores, 16 and 32 images of 7 to 56 pixels and 64 to 512 channels, to within 20 %.
constexpr Costs half_convolution_costs{.channel = 6, .kernel = 25, .rate = 0.36};
constexpr Costs half_input_gradient_costs{.channel = 6, .kernel = 40, .rate = 0.36};
constexpr Costs half_kernel_gradient_costs{.channel = 6, .kernel = 0, .rate = 0.37};
constexpr double large_kernel = 1 << 17;  // channels times filters from which on the 36 points exceed the caches

/// Costs of the points of a constant kernel, which are only read; they don't fit in the L2 cache. Fitted on Zen 5, one
/// thread, 1 and 8 images of 7 to 56 pixels and 64 to 512 channels.
constexpr double constant_kernel = 6, half_constant_kernel = 12;

Costs costs_of(const KernelRequest& request, Costs costs) {
  if (request.constants.count(1) != 0) {
    costs.kernel = request.inputs[0].dtype == DType::float32 ? constant_kernel : half_constant_kernel;
  }
  return costs;
}

/// Estimated speed relative to oneDNN.
double gain(const Geometry& geometry, const Costs& costs) {
  const TiledImages& out = geometry.y;
  const auto channels = static_cast<double>(geometry.x.channels), filters = static_cast<double>(out.channels);
  const auto columns = static_cast<double>(round_up(out.channels, kernels(isa()).products.panel));
  const double used = static_cast<double>(out.height * out.width) / static_cast<double>(16 * out.down * out.across);
  constexpr double most = 9.0 * 16 / winograd_points;  // products of a tile: sum over the kernel / this algorithm
  const double of_kernel = costs.kernel * (channels * filters > large_kernel ? 2 : 1);
  const double overhead =
      costs.channel / channels + costs.channel / columns + of_kernel / static_cast<double>(geometry.tiles);
  return costs.rate * most * used * filters / columns / (1 + overhead);
}

/// True if all operands and results are of one dtype that the algorithm is chosen for. The gradient of a bfloat16
/// kernel may be float32.
bool takes_dtypes(const KernelRequest& request, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  const bool half = dtype == DType::bfloat16 && multiplies_pairs(kernels(isa()).products) && !has_amx();
  if (dtype != DType::float32 && !half) {
    decline(reason, "takes float32, and bfloat16 if the CPU multiplies it at twice the rate; got {}", dtype);
    return false;
  }
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype == dtype || (half && spec.dtype == DType::float32)) continue;
      decline(reason, "takes operands of one dtype; got {} and {}", dtype, spec.dtype);
      return false;
    }
  }
  return true;
}

bool is_turned_off(std::string& reason) {
  const std::optional<bool>& chosen = kernel_options().float32_winograd;
  if (chosen && !*chosen) {
    decline(reason, "turned off by float32_winograd of the Trainer");
    return true;
  }
  if (chosen || !detail::turned_off(detail::environment_variables::float32_winograd)) return false;
  decline(reason, "turned off by MEZZO_FLOAT32_WINOGRAD=0");
  return true;
}

/// xsimd's kernel, if it should be faster than oneDNN's.
template <Make make, Geometry (*geometry_of)(const KernelRequest&), const Costs& costs, const Costs& half_costs>
std::unique_ptr<Kernel> create(const KernelRequest& request, std::string& reason) {
  if (!takes_dtypes(request, reason)) return nullptr;
  const bool half = request.inputs[0].dtype != DType::float32;
  if (!half && is_turned_off(reason)) return nullptr;
  auto kernel = make(request, isa(), reason);
  if (!kernel) return nullptr;
  const Geometry geometry = geometry_of(request);
  if (half) {
    // oneDNN's bfloat16 products are as fast with fewer.
    constexpr std::int64_t fewest = 64;
    const std::int64_t channels = geometry.x.channels, filters = geometry.y.channels;
    if (std::min(channels, filters) < fewest) {
      return decline(reason, "takes at least {} channels and filters in bfloat16; got {} and {}", fewest, channels,
                     filters);
    }
  }
  constexpr double worthwhile = 1.1;
  const double speed = gain(geometry, costs_of(request, half ? half_costs : costs));
  if (speed < worthwhile) {
    return decline(reason, "takes convolutions with an estimated speed of {} times oneDNN's; got {:.2f}", worthwhile,
                   speed);
  }
  return kernel;
}

}  // namespace

std::vector<detail::Implementation> winograd_implementations() {
  return {{"winograd", &ops::conv2d,
           create<winograd::make_convolution, winograd::of_convolution, convolution_costs, half_convolution_costs>},
          {"winograd", &ops::conv2d_input_gradient,
           create<winograd::make_input_gradient, winograd::of_input_gradient, input_gradient_costs,
                  half_input_gradient_costs>},
          {"winograd", &ops::conv2d_kernel_gradient,
           create<winograd::make_kernel_gradient, winograd::of_kernel_gradient, kernel_gradient_costs,
                  half_kernel_gradient_costs>},
          {"winograd", &ops::normalized_conv2d,
           create<winograd::make_normalized_convolution, winograd::of_convolution, convolution_costs,
                  half_convolution_costs>},
          {"winograd", &ops::normalized_conv2d_kernel_gradient,
           create<winograd::make_normalized_kernel_gradient, winograd::of_kernel_gradient, kernel_gradient_costs,
                  half_kernel_gradient_costs>}};
}

}  // namespace mezzo
