#include <algorithm>
#include <cstring>
#include <vector>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/int8/code_convolution.hpp>
#include <mezzo/backends/xsimd/int8/int8_entries.hpp>
#include <mezzo/backends/xsimd/int8/quantized_kernels.hpp>
#include <mezzo/compiler/packed_constants.hpp>
#include <mezzo/ops/quantized_conv2d.hpp>

// Codes of a kernel are packed once a run, or once for all runs if they are constants of a frozen graph.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

class QuantizedConvolutionKernel final : public Kernel {
 public:
  QuantizedConvolutionKernel(const KernelRequest& request, Isa isa)
      : shape_(CodeConvolutionShape::of(request)),
        products_(kernels(isa).int8_products),
        at_(request.attributes),
        convolution_(shape_, isa, layout_) {
    const auto columns = static_cast<std::size_t>(convolution_.padded_filters()) * sizeof(float);
    scales_at_ = layout_.take(columns);
    bias_at_ = layout_.take(columns);
    const auto constant = request.constants.find(1);
    if (constant == request.constants.end()) {
      spread_at_ = layout_.take(spread_bytes());
      panels_at_ = layout_.take(convolution_.panel_bytes());
      return;
    }
    const std::string layout = fmt::format("panels of {} columns of codes, {} pixels of {}", products_.panel,
                                           shape_.kernel_height * shape_.kernel_width, shape_.channels);
    packed_ = detail::packed_constant(constant->second, layout, convolution_.panel_bytes(), [&](void* to) {
      std::vector<std::int8_t> spread(spread_bytes());
      pack(static_cast<const std::int8_t*>(constant->second.raw()), spread.data(), static_cast<std::uint8_t*>(to));
    });
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const scales = reinterpret_cast<float*>(scratch + scales_at_);
    auto* const bias = reinterpret_cast<float*>(scratch + bias_at_);
    const auto* const given = arguments.in<float>(2);
    std::fill_n(scales, convolution_.padded_filters(), 0.0F);
    std::fill_n(bias, convolution_.padded_filters(), 0.0F);
    std::transform(given, given + shape_.filters, scales, [](float scale) { return 1 / scale; });
    if (at_.bias) std::copy_n(arguments.in<float>(*at_.bias), shape_.filters, bias);
    const auto* panels = packed_ ? static_cast<const std::uint8_t*>(packed_->data()) : nullptr;
    if (!packed_) {
      auto* const to = reinterpret_cast<std::uint8_t*>(scratch + panels_at_);
      pack(arguments.in<std::int8_t>(1), reinterpret_cast<std::int8_t*>(scratch + spread_at_), to);
      panels = to;
    }
    convolution_.run({.x = arguments.inputs[0],
                      .epsilon = quantization_epsilon,
                      .factor = at_.factor ? arguments.in<float>(*at_.factor) : nullptr,
                      .panels = panels,
                      .column_scales = scales,
                      .bias = bias,
                      .residual = at_.residual ? arguments.inputs[*at_.residual] : nullptr,
                      .out = arguments.outputs[0],
                      .scratch = scratch});
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return packed_ ? "VNNI, packed" : "VNNI"; }

 private:
  std::size_t spread_bytes() const {
    return shape_.pixel() == shape_.channels ? 0 : static_cast<std::size_t>(shape_.depth() * shape_.filters);
  }

  /// Packs a kernel. `spread`: spread_bytes() for its codes with whole pixels.
  void pack(const std::int8_t* codes, std::int8_t* spread, std::uint8_t* panels) const {
    if (spread_bytes() > 0) {
      const Index pixel = shape_.channels * shape_.filters, whole = shape_.pixel() * shape_.filters;
      std::memset(spread, 0, spread_bytes());
      for (Index i = 0; i < shape_.kernel_height * shape_.kernel_width; ++i) {
        std::memcpy(spread + i * whole, codes + i * pixel, static_cast<std::size_t>(pixel));
      }
      codes = spread;
    }
    parallel_for(convolution_.panel_count(), grain_of(convolution_.panel_pitch()), [&](Index begin, Index end) {
      products_.pack_codes({.from = codes,
                            .width = shape_.filters,
                            .depth = shape_.depth(),
                            .columns = shape_.filters,
                            .first = begin,
                            .last = end,
                            .to = panels,
                            .pitch = convolution_.panel_pitch()});
    });
  }

  const CodeConvolutionShape shape_;
  const Int8Functions& products_;
  const detail::QuantizedConv2DOperands at_;
  ScratchLayout layout_;
  const CodeConvolution convolution_;
  std::size_t scales_at_ = 0, bias_at_ = 0, spread_at_ = 0, panels_at_ = 0;
  std::shared_ptr<const detail::PackedConstant> packed_;
};

std::unique_ptr<Kernel> make_quantized_conv2d(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (dtype != DType::float32 && dtype != DType::bfloat16) {
    return decline(reason, "takes float32 and bfloat16; got {}", dtype);
  }
  if (isa < Isa::avx512 || !has_int8_products()) return decline(reason, "needs AVX-512 with VNNI");
  if (request.attributes.get<Index>("groups") != 1) return decline(reason, "takes convolutions without groups");
  if (const Index terms = detail::window_terms(request.inputs[1].shape); terms > detail::most_window_terms) {
    return decline(reason, "takes sums of at most {} terms; got {}", detail::most_window_terms, terms);
  }
  return std::make_unique<QuantizedConvolutionKernel>(request, isa);
}

}  // namespace

Entries quantized_convolution_entries() { return {entry<make_quantized_conv2d>("quantized_conv2d")}; }

}  // namespace mezzo::xsimd_kernels
