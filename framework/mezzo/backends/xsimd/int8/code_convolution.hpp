#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/xsimd/int8/code_windows.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

/// Sizes and dtypes of a convolution of codes of 8 bits.
struct CodeConvolutionShape {
  std::int64_t images = 0, height = 0, width = 0, channels = 0, filters = 0;
  std::int64_t kernel_height = 0, kernel_width = 0, out_height = 0, out_width = 0;
  Shape strides{1, 1}, dilation{1, 1}, padding{0, 0, 0, 0};
  DType x = DType::float32, out = DType::float32;
  Limits limits{};  ///< of the outputs

  /// The convolution of a conv2d or quantized_conv2d.
  static CodeConvolutionShape of(const KernelRequest& request);

  /// Codes of a pixel, with zeros up to a whole word.
  std::int64_t pixel() const { return (channels + 3) / 4 * 4; }
  std::int64_t padded_height() const { return height + padding[0] + padding[1]; }
  std::int64_t padded_width() const { return width + padding[2] + padding[3]; }
  std::int64_t padded_pixels() const { return padded_height() * padded_width(); }
  std::int64_t depth() const { return kernel_height * kernel_width * pixel(); }
  std::int64_t windows() const { return out_height * out_width; }
  /// True if the windows of an image lie behind one another.
  bool flat() const {
    return kernel_height * kernel_width == 1 && strides == Shape{1, 1} && padding == Shape{0, 0, 0, 0};
  }
};

/// Memory of one run of a CodeConvolution.
struct CodeConvolutionOperands {
  const void* x = nullptr;
  float epsilon = 0;                     ///< added to the largest magnitude of an image
  const float* factor = nullptr;         ///< of all images, for clipped codes; null: by the largest magnitude of each
  const std::uint8_t* panels = nullptr;  ///< of the kernel (places, pixel(), filters), as PanelsToCodes describes
  const float* column_scales = nullptr;  ///< up to the end of the last panel; they multiply
  const float* bias = nullptr;           ///< likewise
  const void* residual = nullptr;        ///< laid out as out; null: none
  void* out = nullptr;
  char* scratch = nullptr;
};

/// Quantizes each image with one scale to codes with zeros around them, whose windows are rows of products with packed
/// panels of codes. Threads share the images, or the rows of an image if there are few. Results don't depend on the
/// number of threads.
class CodeConvolution {
 public:
  CodeConvolution(const CodeConvolutionShape& shape, Isa isa, ScratchLayout& layout);

  std::int64_t panel_count() const { return panels_; }
  std::int64_t panel_pitch() const { return shape_.depth() * products_.panel; }
  /// Bytes of all panels.
  std::size_t panel_bytes() const { return static_cast<std::size_t>(panels_ * panel_pitch()); }
  /// Filters up to the end of the last panel.
  std::int64_t padded_filters() const { return panels_ * products_.panel; }

  void run(const CodeConvolutionOperands& operands) const;

 private:
  /// Memory of the image that a thread works on.
  struct ImageMemory {
    std::int32_t *largest, *sums, *starts;
    std::int8_t* codes;
  };

  void set_lines();
  void take_image_memory(ScratchLayout& layout);
  ImageMemory memory_of(char* scratch, int slot) const;
  template <class Body>
  void for_parts(std::int64_t count, std::int64_t elements, const Body& body) const;
  NumbersToCodes quantization(const CodeConvolutionOperands& operands, float largest, float& scale) const;
  void convolve(const CodeConvolutionOperands& operands, std::int64_t image, const ImageMemory& memory) const;
  void quantize_row(const char* x, std::int64_t y, NumbersToCodes numbers, const ImageMemory& memory) const;
  void set_starts(std::int64_t line, const ImageMemory& memory) const;
  void multiply(const CodeConvolutionOperands& operands, std::int64_t image, std::int64_t line, std::int64_t panel,
                float scale, const ImageMemory& memory) const;

  const CodeConvolutionShape shape_;
  const Int8Functions& products_;
  const CodeWindowFunctions& windows_;
  const std::int64_t panels_, threads_;
  const bool by_images_;
  std::int64_t lines_ = 0, line_ = 0;
  std::size_t slots_at_ = 0, slot_bytes_ = 0, largest_at_ = 0, sums_at_ = 0, starts_at_ = 0, codes_at_ = 0;
};

}  // namespace mezzo::xsimd_kernels
