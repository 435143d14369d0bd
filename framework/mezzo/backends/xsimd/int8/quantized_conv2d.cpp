#include <algorithm>
#include <cstring>
#include <vector>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/int8/code_windows.hpp>
#include <mezzo/backends/xsimd/int8/int8_entries.hpp>
#include <mezzo/backends/xsimd/int8/quantized_kernels.hpp>
#include <mezzo/compiler/packed_constants.hpp>
#include <mezzo/core/int8_scale.hpp>
#include <mezzo/ops/quantized_conv2d.hpp>

// Each image is quantized with one scale to codes with zeros around them, whose windows are rows of products with
// panels of the kernel. Threads share the images, or the rows of an image if there are few.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Bytes of codes that stay in the L2 cache beside a panel.
constexpr Index group_bytes = 1 << 17;
/// Windows of a line of a 1 x 1 convolution: whole blocks of products.
constexpr Index line_windows = 48;

/// Sizes of a convolution of codes.
struct CodeConvolution {
  Index images, height, width, channels, filters;
  Index kernel_height, kernel_width, out_height, out_width;
  Shape strides, dilation, padding;

  explicit CodeConvolution(const KernelRequest& request)
      : strides(request.attributes.get<Shape>("strides")),
        dilation(request.attributes.get<Shape>("dilation")),
        padding(request.attributes.get<Shape>("padding")) {
    const Shape &x = request.inputs[0].shape, &kernel = request.inputs[1].shape, &y = request.outputs[0].shape;
    images = x[0], height = x[1], width = x[2], channels = x[3];
    kernel_height = kernel[0], kernel_width = kernel[1];
    out_height = y[1], out_width = y[2], filters = y[3];
  }

  /// Codes of a pixel, with zeros up to a whole word.
  Index pixel() const { return (channels + 3) / 4 * 4; }
  Index padded_height() const { return height + padding[0] + padding[1]; }
  Index padded_width() const { return width + padding[2] + padding[3]; }
  Index padded_pixels() const { return padded_height() * padded_width(); }
  Index depth() const { return kernel_height * kernel_width * pixel(); }
  Index windows() const { return out_height * out_width; }
  /// True if the windows of an image lie behind one another.
  bool flat() const {
    return kernel_height * kernel_width == 1 && strides == Shape{1, 1} && padding == Shape{0, 0, 0, 0};
  }
};

/// Memory of the image that a thread works on.
struct ImageMemory {
  std::int32_t *largest, *sums, *starts;
  std::int8_t* codes;
};

class QuantizedConvolutionKernel final : public Kernel {
 public:
  QuantizedConvolutionKernel(const KernelRequest& request, Isa isa)
      : c_(request),
        dtype_(request.inputs[0].dtype),
        products_(kernels(isa).int8_products),
        windows_(kernels(isa).code_windows),
        at_(request.attributes),
        limits_(limits_of(request)),
        panels_((c_.filters + products_.panel - 1) / products_.panel),
        threads_(thread_count()),
        by_images_(threads_ == 1 || c_.images >= 2 * threads_) {
    const auto columns = static_cast<std::size_t>(panels_ * products_.panel) * sizeof(float);
    scales_at_ = layout_.take(columns);
    bias_at_ = layout_.take(columns);
    set_lines();
    take_image_memory();
    const auto constant = request.constants.find(1);
    if (constant == request.constants.end()) {
      spread_at_ = layout_.take(spread_bytes());
      panels_at_ = layout_.take(panel_bytes());
      return;
    }
    const std::string layout = fmt::format("panels of {} columns of codes, {} pixels of {}", products_.panel,
                                           c_.kernel_height * c_.kernel_width, c_.channels);
    packed_ = detail::packed_constant(constant->second, layout, panel_bytes(), [&](void* to) {
      std::vector<std::int8_t> spread(spread_bytes());
      pack(static_cast<const std::int8_t*>(constant->second.raw()), spread.data(), static_cast<std::uint8_t*>(to));
    });
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const scales = reinterpret_cast<float*>(scratch + scales_at_);
    auto* const bias = reinterpret_cast<float*>(scratch + bias_at_);
    const auto* const given = arguments.in<float>(2);
    std::fill_n(scales, panels_ * products_.panel, 0.0F);
    std::fill_n(bias, panels_ * products_.panel, 0.0F);
    std::transform(given, given + c_.filters, scales, [](float scale) { return 1 / scale; });
    if (at_.bias) std::copy_n(arguments.in<float>(*at_.bias), c_.filters, bias);
    const auto* panels = packed_ ? static_cast<const std::uint8_t*>(packed_->data()) : nullptr;
    if (!packed_) {
      auto* const to = reinterpret_cast<std::uint8_t*>(scratch + panels_at_);
      pack(arguments.in<std::int8_t>(1), reinterpret_cast<std::int8_t*>(scratch + spread_at_), to);
      panels = to;
    }
    if (!by_images_) {
      for (Index image = 0; image < c_.images; ++image) convolve(arguments, panels, image, memory_of(scratch, 0));
      return;
    }
    const int threads = std::min(static_cast<int>(threads_), thread_count());
    parallel_ranges(c_.images, 1, threads, [&](int thread, Index begin, Index end) {
      for (Index image = begin; image < end; ++image) convolve(arguments, panels, image, memory_of(scratch, thread));
    });
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return packed_ ? "VNNI, packed" : "VNNI"; }

 private:
  /// Lines of windows that products are computed for: rows of the output, or parts of it.
  void set_lines() {
    lines_ = c_.out_height;
    line_ = c_.out_width;
    if (!c_.flat()) return;
    const Index threads = by_images_ ? 1 : threads_;
    lines_ = std::min(c_.windows(), std::max((c_.windows() + line_windows - 1) / line_windows, threads));
    line_ = (c_.windows() + lines_ - 1) / lines_;
    lines_ = (c_.windows() + line_ - 1) / line_;
  }

  void take_image_memory() {
    const auto slots = static_cast<std::size_t>(by_images_ ? threads_ : 1);
    const auto ints = [](Index count) { return static_cast<std::size_t>(count) * sizeof(std::int32_t); };
    ScratchLayout image;
    largest_at_ = image.take(ints(c_.height));
    sums_at_ = image.take(ints(c_.padded_pixels()));
    starts_at_ = image.take(ints(c_.windows()));
    codes_at_ = image.take(static_cast<std::size_t>(c_.padded_pixels() * c_.pixel()));
    slot_bytes_ = image.size();
    slots_at_ = layout_.take(slots * slot_bytes_);
  }

  ImageMemory memory_of(char* scratch, int slot) const {
    char* const at = scratch + slots_at_ + static_cast<std::size_t>(slot) * slot_bytes_;
    return {reinterpret_cast<std::int32_t*>(at + largest_at_), reinterpret_cast<std::int32_t*>(at + sums_at_),
            reinterpret_cast<std::int32_t*>(at + starts_at_), reinterpret_cast<std::int8_t*>(at + codes_at_)};
  }

  std::size_t panel_bytes() const { return static_cast<std::size_t>(panels_ * c_.depth() * products_.panel); }
  std::size_t spread_bytes() const {
    return c_.pixel() == c_.channels ? 0 : static_cast<std::size_t>(c_.depth() * c_.filters);
  }

  /// Packs a kernel. `spread`: spread_bytes() for its codes with whole pixels.
  void pack(const std::int8_t* codes, std::int8_t* spread, std::uint8_t* panels) const {
    if (spread_bytes() > 0) {
      const Index pixel = c_.channels * c_.filters, whole = c_.pixel() * c_.filters;
      std::memset(spread, 0, spread_bytes());
      for (Index i = 0; i < c_.kernel_height * c_.kernel_width; ++i) {
        std::memcpy(spread + i * whole, codes + i * pixel, static_cast<std::size_t>(pixel));
      }
      codes = spread;
    }
    parallel_for(panels_, grain_of(c_.depth() * products_.panel), [&](Index begin, Index end) {
      products_.pack_codes({.from = codes,
                            .width = c_.filters,
                            .depth = c_.depth(),
                            .columns = c_.filters,
                            .first = begin,
                            .last = end,
                            .to = panels,
                            .pitch = c_.depth() * products_.panel});
    });
  }

  /// body(begin, end) for [0, count), on this thread if threads share the images.
  template <class Body>
  void for_parts(Index count, Index elements, const Body& body) const {
    by_images_ ? body(Index{0}, count) : parallel_for(count, grain_of(elements), body);
  }

  void convolve(const KernelArguments& arguments, const std::uint8_t* panels, Index image,
                const ImageMemory& memory) const {
    const Index row = c_.width * c_.channels, size = size_of(dtype_);
    const char* const x = arguments.in<char>(0) + image * c_.height * row * size;
    for_parts(c_.height, row, [&](Index begin, Index end) {
      for (Index y = begin; y < end; ++y) memory.largest[y] = windows_.largest[dtype_](x + y * row * size, row);
    });
    float largest = 0;
    std::memcpy(&largest, std::max_element(memory.largest, memory.largest + c_.height), sizeof largest);
    NumbersToCodes numbers;
    const detail::Int8Scale by_largest(largest + quantization_epsilon);
    numbers.inverse = by_largest.inverse;
    float scale = by_largest.scale;
    if (at_.factor && numbers.inverse > 0) {
      numbers.inverse = *arguments.in<float>(*at_.factor);
      numbers.clips = true;
      scale = 1 / numbers.inverse;
    }
    for_parts(c_.padded_height(), c_.padded_width() * c_.pixel(), [&](Index begin, Index end) {
      for (Index y = begin; y < end; ++y) quantize_row(x, y, numbers, memory);
    });
    const Index rows = c_.strides[0] * c_.padded_width();  // pixels between lines
    const Index group = std::max<Index>(1, group_bytes / std::max<Index>(1, (c_.flat() ? line_ : rows) * c_.pixel()));
    for_parts(lines_, line_ * c_.depth() * panels_, [&](Index begin, Index end) {
      for (Index line = begin; line < end; ++line) set_starts(line, memory);
      for (; begin < end; begin += group) {
        const Index last = std::min(end, begin + group);
        for (Index panel = 0; panel < panels_; ++panel) {
          for (Index line = begin; line < last; ++line) multiply(arguments, panels, image, line, panel, scale, memory);
        }
      }
    });
  }

  /// Codes of a padded row and the sums of its pixels.
  void quantize_row(const char* x, Index y, NumbersToCodes numbers, const ImageMemory& memory) const {
    const Index pixel = c_.pixel(), width = c_.padded_width(), of_x = y - c_.padding[0];
    std::int8_t* const to = memory.codes + y * width * pixel;
    if (of_x < 0 || of_x >= c_.height) {
      std::memset(to, 0, static_cast<std::size_t>(width * pixel));
      std::fill_n(memory.sums + y * width, width, 0);
      return;
    }
    const char* const from = x + of_x * c_.width * c_.channels * size_of(dtype_);
    std::int8_t* const inside = to + c_.padding[2] * pixel;
    std::memset(to, 0, static_cast<std::size_t>(c_.padding[2] * pixel));
    std::memset(inside + c_.width * pixel, 0, static_cast<std::size_t>(c_.padding[3] * pixel));
    const bool whole = pixel == c_.channels;
    numbers.count = whole ? c_.width * c_.channels : c_.channels;
    for (Index i = 0; i < (whole ? 1 : c_.width); ++i) {
      numbers.from = from + i * numbers.count * size_of(dtype_);
      numbers.to = inside + i * pixel;
      if (!whole) std::memset(numbers.to + c_.channels, 0, static_cast<std::size_t>(pixel - c_.channels));
      windows_.quantize[dtype_](numbers);
    }
    windows_.sums(to, width, pixel, memory.sums + y * width);
  }

  /// First values of the sums of a line's windows.
  void set_starts(Index line, const ImageMemory& memory) const {
    const Index first = line * line_, last = std::min(c_.windows(), first + line_);
    if (c_.flat()) {
      std::transform(memory.sums + first, memory.sums + last, memory.starts + first,
                     [](std::int32_t sum) { return -128 * sum; });
      return;
    }
    std::fill(memory.starts + first, memory.starts + last, 0);
    for (Index r = 0; r < c_.kernel_height; ++r) {
      const std::int32_t* const row = memory.sums + (line * c_.strides[0] + r * c_.dilation[0]) * c_.padded_width();
      for (Index s = 0; s < c_.kernel_width; ++s) {
        const std::int32_t* const from = row + s * c_.dilation[1];
        for (Index i = 0; i < line_; ++i) memory.starts[first + i] -= 128 * from[i * c_.strides[1]];
      }
    }
  }

  void multiply(const KernelArguments& arguments, const std::uint8_t* panels, Index image, Index line, Index panel,
                float scale, const ImageMemory& memory) const {
    const auto* const scratch = static_cast<const char*>(arguments.scratch);
    const Index pixel = c_.pixel(), first = line * line_, column = panel * products_.panel;
    const Index begin = c_.flat() ? first : line * c_.strides[0] * c_.padded_width();
    const Index place = ((image * c_.windows() + first) * c_.filters + column) * size_of(dtype_);
    const bool gaps = c_.dilation[1] > 1;  // pixels of a row of a window are apart
    windows_.product[dtype_]({
        .x = memory.codes + begin * pixel,
        .x_width = c_.strides[1] * pixel,
        .segments = c_.kernel_height,
        .x_segment = c_.dilation[0] * c_.padded_width() * pixel,
        .taps = gaps ? c_.kernel_width : 1,
        .x_tap = c_.dilation[1] * pixel,
        .words = (gaps ? 1 : c_.kernel_width) * pixel / 4,
        .starts = memory.starts + first,
        .scale = scale,
        .panel = panels + panel * c_.depth() * products_.panel,
        .column_scales = reinterpret_cast<const float*>(scratch + scales_at_) + column,
        .bias = reinterpret_cast<const float*>(scratch + bias_at_) + column,
        .residual = at_.residual ? arguments.in<char>(*at_.residual) + place : nullptr,
        .out = arguments.out<char>(0) + place,
        .out_width = c_.filters,
        .rows = std::min(line_, c_.windows() - first),
        .columns = std::min(products_.panel, c_.filters - column),
        .least = limits_.least,
        .most = limits_.most,
    });
  }

  const CodeConvolution c_;
  const DType dtype_;
  const Int8Functions& products_;
  const CodeWindowFunctions& windows_;
  const detail::QuantizedConv2DOperands at_;
  const Limits limits_;
  const Index panels_, threads_;
  const bool by_images_;
  Index lines_ = 0, line_ = 0;
  ScratchLayout layout_;
  std::size_t scales_at_ = 0, bias_at_ = 0, spread_at_ = 0, panels_at_ = 0;
  std::size_t slots_at_ = 0, slot_bytes_ = 0, largest_at_ = 0, sums_at_ = 0, starts_at_ = 0, codes_at_ = 0;
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
