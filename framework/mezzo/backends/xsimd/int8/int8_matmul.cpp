#include <algorithm>
#include <memory>
#include <optional>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/int8/byte_gemm.hpp>
#include <mezzo/backends/xsimd/int8/int8_entries.hpp>
#include <mezzo/compiler/packed_constants.hpp>
#include <mezzo/core/int8_scale.hpp>

// Rows of the left operand are quantized in blocks that stay in the L2 cache. The right operand is quantized and packed
// once a run, or once for all runs if it is a constant of a frozen graph. If there are few rows, as in a training step
// with a small batch, or a large right operand, as the table of a vocabulary, each thread packs a group of terms of
// some panels at a time and multiplies with them while they are in its cache: the right operand is read from memory
// once, and its codes are not written to it.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

class Int8MatmulKernel final : public Kernel {
 public:
  Int8MatmulKernel(const KernelRequest& request, const ByteShape& shape, Isa isa)
      : functions_(kernels(isa).int8_products),
        shape_(shape),
        transposed_(request.attributes.get_or("transpose_b", false)),
        relu_(has_relu(request)),
        gemm_(shape, isa, layout_) {
    const auto columns = static_cast<std::size_t>(gemm_.padded_columns()) * sizeof(float);
    const std::size_t scales = static_cast<std::size_t>(shape.groups()) * columns;
    if (has_bias(request)) {
      const DType dtype = request.inputs[2].dtype;
      if (dtype != DType::float32) widen_bias_ = kernels(isa).cast.from_storage[dtype].float32;
      bias_ = layout_.take(columns);
    }
    const auto constant = request.constants.find(1);
    if (constant != request.constants.end()) {
      const std::string layout = fmt::format("int8 panels of {} columns, {} rows{}", functions_.panel, shape.depth,
                                             transposed_ ? " transposed" : "");
      packed_ = detail::packed_constant(constant->second, layout, gemm_.panel_bytes() + scales, [&](void* to) {
        auto* const panels = static_cast<std::uint8_t*>(to);
        pack_all(constant->second.raw(), panels, reinterpret_cast<float*>(panels + gemm_.panel_bytes()));
      });
      return;
    }
    const auto bands = static_cast<std::size_t>(gemm_.threads() * gemm_.band_panels() * gemm_.group_bytes());
    panels_ = layout_.take(bands > 0 ? bands : gemm_.panel_bytes());
    scales_ = layout_.take(scales);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    ByteOperands operands{.a = arguments.inputs[0], .relu = relu_, .out = arguments.outputs[0], .scratch = scratch};
    if (bias_) operands.bias = padded_bias(arguments.inputs[2], reinterpret_cast<float*>(scratch + *bias_));
    if (packed_) {
      operands.panels = static_cast<const std::uint8_t*>(packed_->data());
      operands.column_scales = reinterpret_cast<const float*>(operands.panels + gemm_.panel_bytes());
      gemm_.run(operands);
      return;
    }
    auto* const panels = reinterpret_cast<std::uint8_t*>(scratch + panels_);
    auto* const scales = reinterpret_cast<float*>(scratch + scales_);
    operands.panels = panels;
    operands.column_scales = scales;
    if (gemm_.band_panels() == 0) {
      pack_all(arguments.inputs[1], panels, scales);
      gemm_.run(operands);
      return;
    }
    const void* const numbers = arguments.inputs[1];
    const auto pack_band = [&](int thread, Index first, Index last, Index group) {
      std::uint8_t* const band = panels + thread * gemm_.band_panels() * gemm_.group_bytes();
      pack(numbers, first, last, group, band, gemm_.group_bytes(), scales);
      return band;
    };
    gemm_.run_in_bands(operands, pack_band, [&](Index first, Index last, Index group, Index turns) {
      return numbers_of(numbers, first, last, group, turns);
    });
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return packed_ ? "VNNI, packed" : "VNNI"; }

 private:
  void pack_all(const void* from, std::uint8_t* panels, float* scales) const {
    parallel_for(gemm_.panel_count(), grain_of(shape_.depth * functions_.panel), [&](Index begin, Index end) {
      for (Index group = 0; group < shape_.groups(); ++group) {
        pack(from, begin, end, group, panels + begin * gemm_.panel_pitch() + group * gemm_.group_bytes(),
             gemm_.panel_pitch(), scales);
      }
    });
  }

  /// The first number of a group of panels of the right operand.
  const char* place_of(const void* from, Index first, Index group) const {
    const Index column = first * functions_.panel, term = group * shape_.group;
    return static_cast<const char*>(from) +
           (transposed_ ? column * shape_.depth + term : term * shape_.columns + column) * size_of(shape_.b);
  }

  /// Numbers from row to row of the right operand.
  Index width() const { return transposed_ ? shape_.depth : shape_.columns; }

  /// Packs a group of panels of the right operand. `to`: of the first one; `scales`: of all groups and columns.
  void pack(const void* from, Index first, Index last, Index group, std::uint8_t* to, Index pitch,
            float* scales) const {
    const Index column = first * functions_.panel;
    (transposed_ ? functions_.quantize_transposed_panels
                 : functions_.quantize_panels)[shape_.b]({.from = place_of(from, first, group),
                                                          .width = width(),
                                                          .depth = shape_.terms(group),
                                                          .columns = shape_.columns - column,
                                                          .first = 0,
                                                          .last = last - first,
                                                          .to = to,
                                                          .pitch = pitch,
                                                          .scales = scales + group * gemm_.padded_columns() + column});
  }

  /// The numbers that pack() reads.
  PiecesAhead numbers_of(const void* from, Index first, Index last, Index group, Index turns) const {
    const Index terms = shape_.terms(group), column = first * functions_.panel, size = size_of(shape_.b),
                columns = std::min(shape_.columns, last * functions_.panel) - column;
    return {place_of(from, first, group), transposed_ ? columns : terms, (transposed_ ? terms : columns) * size,
            width() * size, turns};
  }

  const float* padded_bias(const void* from, float* to) const {
    if (widen_bias_ != nullptr) {
      widen_bias_(from, to, shape_.columns);
    } else {
      std::copy_n(static_cast<const float*>(from), shape_.columns, to);
    }
    std::fill(to + shape_.columns, to + gemm_.padded_columns(), 0.0F);
    return to;
  }

  const Int8Functions& functions_;
  const ByteShape shape_;
  const bool transposed_, relu_;
  ScratchLayout layout_;
  const ByteGemm gemm_;
  CastFunctions::Cast widen_bias_ = nullptr;
  std::optional<std::size_t> bias_;
  std::size_t panels_ = 0, scales_ = 0;
  std::shared_ptr<const detail::PackedConstant> packed_;
};

bool is_int8_operand(DType dtype) { return dtype == DType::float32 || dtype == DType::bfloat16; }

std::unique_ptr<Kernel> make_int8_matmul(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!request.attributes.has("products")) return nullptr;
  if (isa < Isa::avx512 || !has_int8_products()) return decline(reason, "needs AVX-512 with VNNI");
  for (const Spec* const spec : {&request.inputs[0], &request.inputs[1], &request.outputs[0]}) {
    if (!is_int8_operand(spec->dtype)) return decline(reason, "takes float32 and bfloat16; got {}", spec->dtype);
  }
  if (has_bias(request) && !is_stored(request.inputs[2].dtype)) return decline_dtype(reason, request.inputs[2].dtype);
  const Shape& b = request.inputs[1].shape;
  if (b.size() != 2 || request.attributes.get_or("transpose_a", false)) {
    return decline(reason, "takes a plain left operand and one matrix");
  }
  const bool transposed = request.attributes.get_or("transpose_b", false);
  ByteShape shape{.depth = b[transposed ? 1 : 0],
                  .columns = b[transposed ? 0 : 1],
                  .group = detail::int8_group,
                  .a = request.inputs[0].dtype,
                  .out = request.outputs[0].dtype,
                  .b = request.inputs[1].dtype,
                  .transposed = transposed,
                  .packed = request.constants.count(1) > 0};
  if (shape.depth > most_code_terms) {
    return decline(reason, "takes sums of at most {} terms; got {}", most_code_terms, shape.depth);
  }
  shape.rows = element_count(request.inputs[0].shape) / shape.depth;
  return std::make_unique<Int8MatmulKernel>(request, shape, isa);
}

}  // namespace

Entries int8_entries() { return {entry<make_int8_matmul>("matmul")}; }

}  // namespace mezzo::xsimd_kernels
