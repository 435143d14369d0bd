#include <algorithm>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/int8/byte_gemm.hpp>
#include <mezzo/backends/xsimd/int8/int8_entries.hpp>
#include <mezzo/backends/xsimd/int8/quantized_kernels.hpp>
#include <mezzo/compiler/packed_constants.hpp>
#include <mezzo/ops/quantized.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Rows of x are quantized and multiplied with codes, which are packed once a run, or once for all runs if they are
/// constants of a frozen graph.
class QuantizedRowsKernel final : public Kernel {
 public:
  QuantizedRowsKernel(const KernelRequest& request, const QuantizedProduct& product, Isa isa)
      : p_(product),
        functions_(kernels(isa).int8_products),
        gemm_({.rows = product.rows,
               .depth = product.depth,
               .columns = product.columns,
               .group = (product.depth + 63) / 64 * 64,
               .a = product.dtype,
               .out = product.dtype,
               .epsilon = quantization_epsilon},
              isa, layout_) {
    scales_ = layout_.take(static_cast<std::size_t>(gemm_.padded_columns()) * sizeof(float));
    const auto constant = request.constants.find(1);
    if (constant == request.constants.end()) {
      panels_ = layout_.take(gemm_.panel_bytes());
      return;
    }
    const std::string layout = fmt::format("panels of {} columns of codes, {} rows{}", functions_.panel, product.depth,
                                           product.transposed ? " transposed" : "");
    packed_ = detail::packed_constant(constant->second, layout, gemm_.panel_bytes(),
                                      [&](void* to) { pack(constant->second.raw(), static_cast<std::uint8_t*>(to)); });
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const scales = reinterpret_cast<float*>(scratch + scales_);
    const auto* const given = arguments.in<float>(2);
    std::transform(given, given + p_.columns, scales, [](float scale) { return 1 / scale; });
    std::fill(scales + p_.columns, scales + gemm_.padded_columns(), 0.0F);
    const std::uint8_t* panels = nullptr;
    if (packed_) {
      panels = static_cast<const std::uint8_t*>(packed_->data());
    } else {
      auto* const to = reinterpret_cast<std::uint8_t*>(scratch + panels_);
      pack(arguments.inputs[1], to);
      panels = to;
    }
    gemm_.run({.a = arguments.inputs[0],
               .factor = p_.has_factor ? *arguments.in<float>(p_.factor()) : 0,
               .panels = panels,
               .column_scales = scales,
               .out = arguments.outputs[0],
               .scratch = scratch});
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return packed_ ? "VNNI, packed" : "VNNI"; }

 private:
  void pack(const void* from, std::uint8_t* panels) const {
    const auto pack = p_.transposed ? functions_.pack_transposed_codes : functions_.pack_codes;
    parallel_for(gemm_.panel_count(), grain_of(p_.depth * functions_.panel), [&](Index begin, Index end) {
      pack({.from = from,
            .width = p_.pitch(),
            .depth = p_.depth,
            .columns = p_.columns,
            .first = begin,
            .last = end,
            .to = panels,
            .pitch = gemm_.panel_pitch()});
    });
  }

  const QuantizedProduct p_;
  const Int8Functions& functions_;
  ScratchLayout layout_;
  const ByteGemm gemm_;
  std::size_t panels_ = 0, scales_ = 0;
  std::shared_ptr<const detail::PackedConstant> packed_;
};

QuantizedProduct product_of(const KernelRequest& request) {
  const auto& activations = request.attributes.get<std::string>("activations");
  QuantizedProduct p{.depth = request.inputs[0].shape.back(),
                     .columns = request.outputs[0].shape.back(),
                     .dtype = request.inputs[0].dtype,
                     .bits = request.attributes.get<Index>("bits"),
                     .block = request.attributes.get<Index>("block_size"),
                     .nf4 = detail::is_nf4(request.attributes),
                     .transposed = request.attributes.get<bool>("transpose_b"),
                     .quantizes = activations != "none",
                     .has_factor = activations == "static"};
  p.rows = element_count(request.inputs[0].shape) / p.depth;
  return p;
}

std::unique_ptr<Kernel> make_few_rows(const QuantizedProduct& p, Isa isa, std::string& reason) {
  if (p.transposed && p.bits == 4 && p.block > 0 && p.block % 2 != 0) {
    return decline(reason, "takes even blocks of transposed codes of 4 bits; got {}", p.block);
  }
  if (p.transposed && p.quantizes && p.depth > most_table_terms) {
    return decline(reason, "takes sums of at most {} terms of transposed codes; got {}", most_table_terms, p.depth);
  }
  return few_codes_kernel(p, isa);
}

std::unique_ptr<Kernel> make_quantized_matmul(const KernelRequest& request, Isa isa, std::string& reason) {
  const QuantizedProduct p = product_of(request);
  if (!is_stored(p.dtype)) return decline_dtype(reason, p.dtype);
  if (p.rows <= FewCodes::most_rows) return make_few_rows(p, isa, reason);
  if (!p.quantizes || p.bits != 8 || p.block > 0) {
    return decline(reason,
                   "multiplies at most {} rows, more if they are quantized and codes have 8 bits and no blocks; got {}",
                   FewCodes::most_rows, p.rows);
  }
  if (isa < Isa::avx512 || !has_int8_products()) {
    return decline(reason, "needs AVX-512 with VNNI for more than {} rows; got {}", FewCodes::most_rows, p.rows);
  }
  if (p.dtype == DType::float16)
    return decline(reason, "takes more than {} rows in float32 and bfloat16", FewCodes::most_rows);
  if (p.depth > most_code_terms) {
    return decline(reason, "takes sums of at most {} terms; got {}", most_code_terms, p.depth);
  }
  return std::make_unique<QuantizedRowsKernel>(request, p, isa);
}

}  // namespace

Entries quantized_entries() { return {entry<make_quantized_matmul>("quantized_matmul")}; }

}  // namespace mezzo::xsimd_kernels
