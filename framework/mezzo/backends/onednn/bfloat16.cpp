#include <mezzo/backends/onednn/bfloat16.hpp>

#include <cpuid.h>

#include <cstring>
#include <dnnl.hpp>

#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo {
namespace {

bool onednn_isa_has(dnnl::cpu_isa wanted) {
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

double elements_of(const Spec& spec) { return static_cast<double>(element_count(spec.shape)); }

bool is_intel_with_avx512_fp16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0 || std::memcmp(&b, "Genu", 4) != 0) return false;
  constexpr unsigned avx512_fp16 = 1U << 23;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & avx512_fp16) != 0;
}

}  // namespace

bool onednn_has_native_bfloat16() {
  return isa() >= Isa::avx512_bf16 && onednn_isa_has(dnnl::cpu_isa::avx512_core_bf16);
}

bool onednn::has_amx_bfloat16() {
  return onednn_has_native_bfloat16() && onednn_isa_has(dnnl::cpu_isa::avx512_core_amx);
}

bool onednn_has_slow_bfloat16() {
  return onednn_has_native_bfloat16() && !onednn::has_amx_bfloat16() && is_intel_with_avx512_fp16();
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
  if (!has_amx) return "needs AMX";
  const double work = operations(request);
  // What sums up little is bound by writing its output, in either form.
  constexpr double least_depth = 64;
  if (work < 2 * least_depth * elements_of(request.outputs[0])) return "too short sums to be worth splitting";
  // On AMX, 2 cores, (2048, 384) by (384, 1536), a thousand operations take float32 2.9 ns, the split product 1.5.
  // Split operands are twice the bytes of widened ones, which costs up to 0.1 ns an element: paid back by 70
  // operations.
  constexpr double worthwhile = 128;
  const bool pays = work > worthwhile * (elements_of(request.inputs[0]) + elements_of(request.inputs[1]));
  return pays ? "" : "too few operations an element to be worth splitting";
}

std::string onednn::prefers_float32(const KernelRequest& request) {
  double elements = 0;
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype == DType::bfloat16) elements += elements_of(spec);
    }
  }
  // Emerald Rapids without AMX, 2 cores: 400 GFLOP/s in float32, 220 in bfloat16; widening costs 0.04 to 0.1 ns an
  // element.
  constexpr double worthwhile = 64;
  if (elements > 0 && onednn_has_slow_bfloat16() && operations(request) > worthwhile * elements) {
    return "float32 is faster here: this CPU multiplies bfloat16 at half its rate";
  }
  return {};
}

}  // namespace mezzo
