#include <mezzo/backends/xsimd/implementations.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/attention/attention.hpp>
#include <mezzo/backends/xsimd/batch_norm.hpp>
#include <mezzo/backends/xsimd/chain.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/crossentropy.hpp>
#include <mezzo/backends/xsimd/depthwise/depthwise.hpp>
#include <mezzo/backends/xsimd/dropout.hpp>
#include <mezzo/backends/xsimd/elementwise.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/few_rows.hpp>
#include <mezzo/backends/xsimd/few_taps/few_taps.hpp>
#include <mezzo/backends/xsimd/finite.hpp>
#include <mezzo/backends/xsimd/fold.hpp>
#include <mezzo/backends/xsimd/gemm/gemm.hpp>
#include <mezzo/backends/xsimd/int8/int8_entries.hpp>
#include <mezzo/backends/xsimd/layer_norm.hpp>
#include <mezzo/backends/xsimd/movement.hpp>
#include <mezzo/backends/xsimd/outer_products.hpp>
#include <mezzo/backends/xsimd/packed/packed.hpp>
#include <mezzo/backends/xsimd/past_caches.hpp>
#include <mezzo/backends/xsimd/pointwise.hpp>
#include <mezzo/backends/xsimd/pooling.hpp>
#include <mezzo/backends/xsimd/recurrence/recurrence.hpp>
#include <mezzo/backends/xsimd/reduce.hpp>
#include <mezzo/backends/xsimd/scan.hpp>
#include <mezzo/backends/xsimd/softmax.hpp>
#include <mezzo/backends/xsimd/truth.hpp>
#include <mezzo/backends/xsimd/update.hpp>
#include <mezzo/backends/xsimd/update_rules.hpp>
#include <mezzo/backends/xsimd/winograd/winograd.hpp>
#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

using xsimd_kernels::Entries;

const Entries& all_entries() {
  static const Entries entries = [] {
    using namespace xsimd_kernels;
    Entries all;
    for (const Entries& family :
         {attention_entries(),    batch_norm_entries(), chain_entries(),       conversion_entries(),
          crossentropy_entries(), dropout_entries(),    elementwise_entries(), finite_entries(),
          fold_entries(),         layer_norm_entries(), movement_entries(),    pooling_entries(),
          recurrence_entries(),   reduce_entries(),     scan_entries(),        softmax_entries(),
          truth_entries(),        update_entries(),     update_rule_entries(), winograd_entries()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return entries;
}

std::vector<detail::Implementation> implementations(const char* name, const Entries& entries) {
  std::vector<detail::Implementation> all;
  for (const auto& entry : entries) all.push_back({name, &find_op(entry.op), entry.create});
  return all;
}

/// True if a product sums over more rows than the caches hold and has a small result. On Zen 5, 2 cores, xsimd's kernel
/// is then 1.1 to 1.3 times as fast as oneDNN's, which reads the rows in an order that the hardware can't predict;
/// otherwise it reaches 0.85 to 1.0 of oneDNN's speed. In float32 oneDNN is slow if a row has a multiple of 2 KiB.
bool streams_rows(const KernelRequest& request) {
  constexpr std::int64_t fewest_rows = 4096, fewest_sums = 16384, most_sums = 65536, slow_width = 512;
  const Shape &x = request.inputs[0].shape, &out = request.outputs[0].shape;
  const std::int64_t sums = out.back() * out[out.size() - 2], width = std::max(out.back(), out[out.size() - 2]);
  return request.attributes.get_or<bool>("transpose_a", false) && x.front() >= fewest_rows && sums >= fewest_sums &&
         sums <= most_sums && (request.inputs[0].dtype == DType::bfloat16 || width % slow_width == 0);
}

/// True if a product has the rows, columns and terms for which xsimd's kernel is faster than oneDNN's. Fitted on Zen 4
/// with AVX2: 256 x 4096 x 4096 reaches 104 GFLOP/s on a core in place of 50, but 128 x 512 x 10 50 in place of 59 and
/// 2048 x 384 x 1536 97 in place of 109. In bfloat16 the kernel also takes many rows, since it converts operands while
/// it copies them, and oneDNN needs float32 arrays.
bool suits_gemm(const KernelRequest& request) {
  constexpr std::int64_t fewest_rows = 16, many_rows = 1024, fewest_columns = 32, fewest_terms = 16;
  const DType dtype = request.inputs[0].dtype;
  if (isa() != Isa::avx2 || (dtype != DType::float32 && dtype != DType::bfloat16)) return false;
  const Shape& out = request.outputs[0].shape;
  const double terms = operations(request) / (2 * static_cast<double>(element_count(out)));
  const std::int64_t rows = element_count(out) / out.back();
  return rows >= fewest_rows && (rows < many_rows || dtype == DType::bfloat16) && out.back() >= fewest_columns &&
         terms >= fewest_terms;
}

/// True for a dtype of 16 bits whose products oneDNN computes without conversions, and faster than those of float32.
bool has_fast_products(DType dtype) {
  return dtype == DType::bfloat16 ? has_fast_bfloat16() : dtype_support(dtype) == Support::native;
}

}  // namespace

std::vector<detail::Implementation> xsimd_implementations() { return implementations("xsimd", all_entries()); }

std::vector<detail::Implementation> depthwise_implementations() {
  return implementations("depthwise", xsimd_kernels::depthwise_entries());
}

std::vector<detail::Implementation> few_taps_implementations() {
  return implementations("few_taps", xsimd_kernels::few_taps_entries());
}

std::vector<detail::Implementation> gemm_implementations() {
  std::vector<detail::Implementation> all = implementations("gemm", xsimd_kernels::gemm_entries());
  for (detail::Implementation& one : all) {
    one.create = [create = one.create](const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
      if (!suits_gemm(request)) return nullptr;
      return create(request, reason);
    };
  }
  return all;
}

std::vector<detail::Implementation> packed_implementations() {
  std::vector<detail::Implementation> all = implementations("packed", xsimd_kernels::packed_entries());
  for (detail::Implementation& one : all) {
    one.create = [create = one.create](const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
      // On Zen 4 with AVX-512, one core, oneDNN's convolutions with strides reach 95 to 114 GFLOP/s, this product 91 to
      // 108.
      const bool constant = request.op != &ops::conv2d_input_gradient && xsimd_kernels::has_constants(request);
      if (!constant && isa() != Isa::avx2) return nullptr;
      return create(request, reason);
    };
  }
  return all;
}

std::vector<detail::Implementation> int8_implementations() {
  std::vector<detail::Implementation> all = implementations("int8", xsimd_kernels::int8_entries());
  for (const Entries& entries : {xsimd_kernels::tile_entries(), xsimd_kernels::int8_convolution_entries()}) {
    for (detail::Implementation& one : implementations("int8", entries)) all.push_back(std::move(one));
  }
  for (detail::Implementation& one : all) one.int8_products = true;
  return all;
}

std::vector<detail::Implementation> codes_implementations() {
  std::vector<detail::Implementation> all = implementations("codes", xsimd_kernels::quantized_entries());
  for (const Entries& entries : {xsimd_kernels::quantized_convolution_entries(), xsimd_kernels::dequantize_entries()}) {
    for (detail::Implementation& one : implementations("codes", entries)) all.push_back(std::move(one));
  }
  return all;
}

std::vector<detail::Implementation> few_rows_implementations() {
  std::vector<detail::Implementation> all = implementations("few_rows", xsimd_kernels::few_rows_entries());
  for (detail::Implementation& one : all) {
    one.create = [create = one.create](const KernelRequest& request, std::string& reason) {
      auto kernel = create(request, reason);
      if (!kernel) reason.clear();  // most products have more rows
      return kernel;
    };
  }
  return all;
}

std::vector<detail::Implementation> outer_product_implementations() {
  std::vector<detail::Implementation> all = implementations("outer", xsimd_kernels::outer_product_entries());
  for (detail::Implementation& one : all) {
    one.create = [create = one.create](const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
      const bool leaves_to_gemm = request.inputs[0].dtype == DType::bfloat16 && suits_gemm(request);
      if (request.op == &ops::matmul && (!streams_rows(request) || leaves_to_gemm)) return nullptr;
      if (is_half(request.inputs[0].dtype) && has_amx()) return decline(reason, "leaves 16-bit operands to AMX");
      return create(request, reason);
    };
  }
  return all;
}

std::vector<detail::Implementation> pointwise_implementations() {
  std::vector<detail::Implementation> all = implementations("pointwise", xsimd_kernels::pointwise_entries());
  for (detail::Implementation& one : implementations("pointwise", xsimd_kernels::pointwise_norm_gradient_entries()))
    all.push_back(std::move(one));
  for (detail::Implementation& one : all) {
    one.create = [create = one.create](const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
      if (isa() < Isa::avx2) return decline(reason, "is not faster than oneDNN without AVX2");
      const DType dtype = request.inputs[0].dtype;
      if (is_half(dtype) && has_fast_products(dtype)) return decline(reason, "leaves {} to products of 16 bits", dtype);
      if (request.op == &ops::pointwise_norm_gradient && !xsimd_kernels::exceeds_caches(request.inputs[1])) {
        return decline(reason, "is not faster for arrays that stay in the caches");
      }
      return create(request, reason);
    };
  }
  return all;
}

std::unique_ptr<Kernel> xsimd_gemm_kernel(const KernelRequest& request, Isa isa, std::string& reason) {
  return xsimd_kernels::gemm_entries().front().make(request, isa, reason);
}

std::unique_ptr<Kernel> xsimd_kernel(const KernelRequest& request, Isa isa, std::string& reason) {
  bool found = false;
  using namespace xsimd_kernels;
  for (const Entries& family :
       {int8_entries(), int8_convolution_entries(), tile_entries(), quantized_entries(),
        quantized_convolution_entries(), dequantize_entries(), packed_entries(), depthwise_entries(),
        few_taps_entries(), pointwise_entries(), pointwise_norm_gradient_entries(), all_entries(),
        normalized_winograd_entries(), outer_product_entries(), few_rows_entries()}) {
    for (const auto& entry : family) {
      if (request.op->name != entry.op) continue;
      found = true;
      reason.clear();
      if (auto kernel = entry.make(request, isa, reason)) return kernel;
    }
  }
  if (found) return nullptr;
  return decline(reason, "xsimd has no kernel of {}", request.op->name);
}

}  // namespace mezzo
