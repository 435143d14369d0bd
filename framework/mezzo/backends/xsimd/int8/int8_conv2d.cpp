#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/int8/code_convolution.hpp>
#include <mezzo/backends/xsimd/int8/int8_entries.hpp>
#include <mezzo/compiler/packed_constants.hpp>
#include <mezzo/ops/kernel_convolution.hpp>
#include <mezzo/ops/quantized_conv2d.hpp>

// The kernel is quantized and packed once a run, or once for all runs if it is a constant of a frozen graph. The
// gradient of the input is the convolution of the cotangents with the turned kernel, whose channels and filters are
// exchanged.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Makes panels of codes of a kernel (height, width, channels, filters), with a scale for each filter, or for each
/// channel if it is turned.
class KernelCodes {
 public:
  KernelCodes(const Spec& kernel, bool turned, const CodeConvolution& convolution, Isa isa)
      : shape_(kernel.shape),
        dtype_(kernel.dtype),
        turned_(turned),
        convolution_(convolution),
        functions_(kernels(isa).int8_products) {}

  /// Bytes of the rows of a turned kernel, for pack(). 0: the kernel's own rows are read.
  std::size_t row_bytes() const {
    const bool copies = turned_ && shape_[0] * shape_[1] > 1;
    return copies ? static_cast<std::size_t>(element_count(shape_) * size_of(dtype_)) : 0;
  }

  /// `rows`: row_bytes() of memory.
  void pack(const void* kernel, char* rows, std::uint8_t* panels, float* scales) const {
    const Index places = shape_[0] * shape_[1], channels = shape_[2], filters = shape_[3];
    const Index depth = places * (turned_ ? filters : channels), columns = turned_ ? channels : filters;
    if (row_bytes() > 0) {
      copy_rows(static_cast<const char*>(kernel), rows);
      kernel = rows;
    }
    const auto quantize = (turned_ ? functions_.quantize_transposed_panels : functions_.quantize_panels)[dtype_];
    parallel_for(convolution_.panel_count(), grain_of(convolution_.panel_pitch()), [&](Index begin, Index end) {
      quantize({.from = kernel,
                .width = turned_ ? depth : columns,
                .depth = depth,
                .columns = columns,
                .first = begin,
                .last = end,
                .to = panels,
                .pitch = convolution_.panel_pitch(),
                .scales = scales});
    });
  }

 private:
  /// Copies the turned kernel as rows (channels, places, filters).
  void copy_rows(const char* kernel, char* rows) const {
    const Index places = shape_[0] * shape_[1], channels = shape_[2], bytes = shape_[3] * size_of(dtype_);
    parallel_for(channels, grain_of(places * shape_[3]), [&](Index begin, Index end) {
      for (Index channel = begin; channel < end; ++channel) {
        for (Index place = 0; place < places; ++place) {
          std::memcpy(rows + (channel * places + place) * bytes,
                      kernel + ((places - 1 - place) * channels + channel) * bytes, static_cast<std::size_t>(bytes));
        }
      }
    });
  }

  const Shape shape_;
  const DType dtype_;
  const bool turned_;
  const CodeConvolution& convolution_;
  const Int8Functions& functions_;
};

class Int8ConvolutionKernel final : public Kernel {
 public:
  Int8ConvolutionKernel(const KernelRequest& request, const CodeConvolutionShape& shape, bool turned, Isa isa)
      : filters_(shape.filters),
        convolution_(shape, isa, layout_),
        codes_(request.inputs[1], turned, convolution_, isa) {
    const auto columns = static_cast<std::size_t>(convolution_.padded_filters()) * sizeof(float);
    bias_at_ = layout_.take(columns);
    if (!turned && has_bias(request)) widen_bias_ = kernels(isa).cast.from_storage[request.inputs[2].dtype].float32;
    const auto constant = request.constants.find(1);
    if (constant != request.constants.end()) {
      const std::string layout = fmt::format("int8 panels of {} of a kernel{}", columns, turned ? ", turned" : "");
      packed_ = detail::packed_constant(constant->second, layout, convolution_.panel_bytes() + columns, [&](void* to) {
        std::vector<char> rows(codes_.row_bytes());
        auto* const panels = static_cast<std::uint8_t*>(to);
        codes_.pack(constant->second.raw(), rows.data(), panels,
                    reinterpret_cast<float*>(panels + convolution_.panel_bytes()));
      });
      return;
    }
    rows_at_ = layout_.take(codes_.row_bytes());
    panels_at_ = layout_.take(convolution_.panel_bytes());
    scales_at_ = layout_.take(columns);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const bias = reinterpret_cast<float*>(scratch + bias_at_);
    std::fill_n(bias, convolution_.padded_filters(), 0.0F);
    if (widen_bias_ != nullptr) widen_bias_(arguments.inputs[2], bias, filters_);
    CodeConvolutionOperands operands{
        .x = arguments.inputs[0], .bias = bias, .out = arguments.outputs[0], .scratch = scratch};
    if (packed_) {
      operands.panels = static_cast<const std::uint8_t*>(packed_->data());
      operands.column_scales = reinterpret_cast<const float*>(operands.panels + convolution_.panel_bytes());
    } else {
      auto* const panels = reinterpret_cast<std::uint8_t*>(scratch + panels_at_);
      auto* const scales = reinterpret_cast<float*>(scratch + scales_at_);
      codes_.pack(arguments.inputs[1], scratch + rows_at_, panels, scales);
      operands.panels = panels;
      operands.column_scales = scales;
    }
    convolution_.run(operands);
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return packed_ ? "VNNI, packed" : "VNNI"; }

 private:
  const Index filters_;
  ScratchLayout layout_;
  const CodeConvolution convolution_;
  const KernelCodes codes_;
  CastFunctions::Cast widen_bias_ = nullptr;
  std::size_t bias_at_ = 0, rows_at_ = 0, panels_at_ = 0, scales_at_ = 0;
  std::shared_ptr<const detail::PackedConstant> packed_;
};

/// The convolution by which the gradient of the input is computed; none with strides or more padding than the kernel
/// reaches.
std::optional<CodeConvolutionShape> turned_convolution(const KernelRequest& request) {
  const Shape &g = request.inputs[0].shape, &kernel = request.inputs[1].shape, &x = request.outputs[0].shape;
  const std::optional<Shape> padding = detail::turned_padding(request.attributes, kernel);
  if (!padding) return {};
  return CodeConvolutionShape{.images = g[0],
                              .height = g[1],
                              .width = g[2],
                              .channels = g[3],
                              .filters = x[3],
                              .kernel_height = kernel[0],
                              .kernel_width = kernel[1],
                              .out_height = x[1],
                              .out_width = x[2],
                              .dilation = request.attributes.get<Shape>("dilation"),
                              .padding = *padding,
                              .x = request.inputs[0].dtype,
                              .out = request.outputs[0].dtype};
}

std::unique_ptr<Kernel> make_of_codes(const KernelRequest& request, Isa isa, std::string& reason, bool turned) {
  if (!request.attributes.has("products")) return nullptr;
  if (isa < Isa::avx512 || !has_int8_products()) return decline(reason, "needs AVX-512 with VNNI");
  for (const Spec* const spec : {&request.inputs[0], &request.inputs[1], &request.outputs[0]}) {
    if (spec->dtype == DType::float32 || spec->dtype == DType::bfloat16) continue;
    return decline(reason, "takes float32 and bfloat16; got {}", spec->dtype);
  }
  if (!turned && has_bias(request) && !is_stored(request.inputs[2].dtype)) {
    return decline_dtype(reason, request.inputs[2].dtype);
  }
  const std::optional<CodeConvolutionShape> shape =
      turned ? turned_convolution(request) : CodeConvolutionShape::of(request);
  if (!shape) return decline(reason, "takes gradients without strides and with padding inside of the kernel's reach");
  if (shape->pixel() != shape->channels) {
    return decline(reason, "takes pixels of whole words of 4 codes; got {} channels", shape->channels);
  }
  if (shape->depth() > detail::most_window_terms) {
    return decline(reason, "takes sums of at most {} terms; got {}", detail::most_window_terms, shape->depth());
  }
  return std::make_unique<Int8ConvolutionKernel>(request, *shape, turned, isa);
}

std::unique_ptr<Kernel> make_int8_convolution(const KernelRequest& request, Isa isa, std::string& reason) {
  return make_of_codes(request, isa, reason, false);
}

std::unique_ptr<Kernel> make_int8_input_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  return make_of_codes(request, isa, reason, true);
}

}  // namespace

Entries int8_convolution_entries() {
  return {entry<make_int8_convolution>("conv2d"), entry<make_int8_input_gradient>("conv2d_input_gradient")};
}

}  // namespace mezzo::xsimd_kernels
