#include <mezzo/backends/onednn/implementations.hpp>

#include <dnnl.hpp>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

bool onednn_isa_has(dnnl::cpu_isa wanted) {
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

double elements_of(const Spec& spec) { return static_cast<double>(element_count(spec.shape)); }

}  // namespace

bool onednn_has_native_bfloat16() {
  return isa() >= Isa::avx512_bf16 && onednn_isa_has(dnnl::cpu_isa::avx512_core_bf16);
}

bool onednn::has_amx_bfloat16() {
  return onednn_has_native_bfloat16() && onednn_isa_has(dnnl::cpu_isa::avx512_core_amx);
}

bool onednn_has_slow_bfloat16() {
  return onednn_has_native_bfloat16() && !onednn::has_amx_bfloat16() && has_slow_bfloat16();
}

Support onednn_support(DType dtype) {
  if (dtype == DType::float32) return Support::native;
  if (dtype == DType::bfloat16) {
    if (onednn_has_native_bfloat16()) return Support::native;
    return isa() >= Isa::avx512 && onednn_isa_has(dnnl::cpu_isa::avx512_core) ? Support::emulated : Support::absent;
  }
#if DNNL_VERSION_MAJOR >= 3
  if (dtype == DType::float16 && onednn_isa_has(dnnl::cpu_isa::avx512_core_fp16)) return Support::native;
#endif
  return Support::absent;
}

std::string onednn::prefers_widening(const KernelRequest& request, bool has_amx) {
  if (request.inputs[0].dtype != DType::float16 || request.inputs[1].dtype != DType::float16) return {};
  if (!has_amx) return "needs AMX with bfloat16; this CPU or its ISA limit has none";
  const double work = operations(request), outputs = elements_of(request.outputs[0]);
  // Products with short sums are bound by writing their output, in either form.
  constexpr double least_depth = 64;
  if (work < 2 * least_depth * outputs) {
    return fmt::format("splits products with sums of at least {} terms; got {}", least_depth, work / (2 * outputs));
  }
  // On AMX, 2 cores, (2048, 384) by (384, 1536), a thousand operations take 2.9 ns in float32 and 1.5 ns as a split
  // product. Split operands have twice the bytes of widened ones, which costs up to 0.1 ns an element: as much as 70
  // operations save.
  constexpr double worthwhile = 128;
  const double per_element = work / (elements_of(request.inputs[0]) + elements_of(request.inputs[1]));
  if (per_element > worthwhile) return {};
  return fmt::format("splits products with more than {} operations an operand element; got {:.4g}", worthwhile,
                     per_element);
}

namespace {

/// True for gradients of kernels with few channels, for which oneDNN 2.6 has only slow code in bfloat16 without AMX. On
/// Zen 5, 2 cores: 167 ms for 16x224x224x3, 3x3x32, stride 2, and 104 ms for 16x56x56x144, 5x5 depthwise, stride 2; in
/// float32 9 and 23 ms. Depthwise 3 x 3 kernels have a fast implementation.
bool has_slow_kernel_gradient(const KernelRequest& request) {
  if (request.op != &ops::conv2d_kernel_gradient || request.inputs[0].dtype != DType::bfloat16) return false;
  constexpr std::int64_t fewest_channels = 4;
  const Shape& kernel = request.outputs[0].shape;
  const bool small_depthwise = request.attributes.get<std::int64_t>("groups") > 1 && kernel[0] <= 3 && kernel[1] <= 3;
  return kernel[2] < fewest_channels && !small_depthwise && onednn_has_native_bfloat16() && !onednn::has_amx_bfloat16();
}

}  // namespace

std::string onednn::prefers_float32(const KernelRequest& request) {
  if (has_slow_kernel_gradient(request)) {
    return "float32 is faster here: gradients of kernels with few channels are slow in bfloat16";
  }
  double elements = 0;
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype == DType::bfloat16) elements += elements_of(spec);
    }
  }
  // Emerald Rapids without AMX, 2 cores: 400 GFLOP/s in float32, 220 in bfloat16. Widening costs 0.04 to 0.1 ns an
  // element.
  constexpr double worthwhile = 64;
  if (elements > 0 && onednn_has_slow_bfloat16() && operations(request) > worthwhile * elements) {
    return "float32 is faster here: this CPU multiplies bfloat16 at half the rate of float32";
  }
  return {};
}

namespace {

template <onednn::Creator* make>
std::unique_ptr<Kernel> create(const KernelRequest& request, std::string& reason) {
  reason = onednn::prefers_float32(request);
  return reason.empty() ? make(request, reason) : nullptr;
}

std::unique_ptr<Kernel> create_split_matmul(const KernelRequest& request, std::string& reason) {
  reason = onednn::prefers_widening(request, onednn::has_amx_bfloat16());
  return reason.empty() ? onednn::make_split_matmul(request, reason) : nullptr;
}

std::unique_ptr<Kernel> create_float32_matmul(const KernelRequest& request, std::string& reason) {
  const detail::Float32Matmul precision = detail::current_float32_matmul();
  if (precision == detail::Float32Matmul::highest || request.inputs[0].dtype != DType::float32) return nullptr;
  const bool three = precision == detail::Float32Matmul::high;
  reason = onednn::prefers_float32_products(request, three, onednn::has_amx_bfloat16(),
                                            onednn_has_native_bfloat16() && !onednn_has_slow_bfloat16());
  return reason.empty() ? onednn::make_float32_matmul(request, three ? 3 : 1, reason) : nullptr;
}

}  // namespace

std::vector<detail::Implementation> float32_matmul_implementations() {
  return {{"bfloat16", &ops::matmul, create_float32_matmul}};
}

std::vector<detail::Implementation> onednn_implementations() {
  return {{"onednn", &ops::matmul, create<onednn::make_matmul>},
          {"split", &ops::matmul, create_split_matmul},
          {"onednn", &ops::conv2d, create<onednn::make_conv2d>},
          {"onednn", &ops::conv2d_input_gradient, create<onednn::make_conv2d_input_gradient>},
          {"onednn", &ops::conv2d_kernel_gradient, create<onednn::make_conv2d_kernel_gradient>}};
}

}  // namespace mezzo
