#include <mezzo/backends/xsimd/int8/code_convolution.hpp>

#include <algorithm>
#include <cstring>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/core/int8_scale.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Bytes of codes that stay in the L2 cache beside a panel.
constexpr Index group_bytes = 1 << 17;
/// Windows of a line of a 1 x 1 convolution: whole blocks of products.
constexpr Index line_windows = 48;

}  // namespace

CodeConvolutionShape CodeConvolutionShape::of(const KernelRequest& request) {
  const Shape &x = request.inputs[0].shape, &kernel = request.inputs[1].shape, &y = request.outputs[0].shape;
  return {.images = x[0],
          .height = x[1],
          .width = x[2],
          .channels = x[3],
          .filters = y[3],
          .kernel_height = kernel[0],
          .kernel_width = kernel[1],
          .out_height = y[1],
          .out_width = y[2],
          .strides = request.attributes.get<Shape>("strides"),
          .dilation = request.attributes.get<Shape>("dilation"),
          .padding = request.attributes.get<Shape>("padding"),
          .x = request.inputs[0].dtype,
          .out = request.outputs[0].dtype,
          .limits = limits_of(request)};
}

CodeConvolution::CodeConvolution(const CodeConvolutionShape& shape, Isa isa, ScratchLayout& layout)
    : shape_(shape),
      products_(kernels(isa).int8_products),
      windows_(kernels(isa).code_windows),
      panels_((shape.filters + products_.panel - 1) / products_.panel),
      threads_(thread_count()),
      by_images_(threads_ == 1 || shape.images >= 2 * threads_) {
  set_lines();
  take_image_memory(layout);
}

void CodeConvolution::run(const CodeConvolutionOperands& operands) const {
  if (!by_images_) {
    for (Index image = 0; image < shape_.images; ++image) convolve(operands, image, memory_of(operands.scratch, 0));
    return;
  }
  const int threads = std::min(static_cast<int>(threads_), thread_count());
  parallel_ranges(shape_.images, 1, threads, [&](int thread, Index begin, Index end) {
    for (Index image = begin; image < end; ++image) convolve(operands, image, memory_of(operands.scratch, thread));
  });
}

/// Lines of windows that products are computed for: rows of the output, or parts of it.
void CodeConvolution::set_lines() {
  lines_ = shape_.out_height;
  line_ = shape_.out_width;
  if (!shape_.flat()) return;
  const Index threads = by_images_ ? 1 : threads_;
  lines_ = std::min(shape_.windows(), std::max((shape_.windows() + line_windows - 1) / line_windows, threads));
  line_ = (shape_.windows() + lines_ - 1) / lines_;
  lines_ = (shape_.windows() + line_ - 1) / line_;
}

void CodeConvolution::take_image_memory(ScratchLayout& layout) {
  const auto slots = static_cast<std::size_t>(by_images_ ? threads_ : 1);
  const auto ints = [](Index count) { return static_cast<std::size_t>(count) * sizeof(std::int32_t); };
  ScratchLayout image;
  largest_at_ = image.take(ints(shape_.height));
  sums_at_ = image.take(ints(shape_.padded_pixels()));
  starts_at_ = image.take(ints(shape_.windows()));
  codes_at_ = image.take(static_cast<std::size_t>(shape_.padded_pixels() * shape_.pixel()));
  slot_bytes_ = image.size();
  slots_at_ = layout.take(slots * slot_bytes_);
}

CodeConvolution::ImageMemory CodeConvolution::memory_of(char* scratch, int slot) const {
  char* const at = scratch + slots_at_ + static_cast<std::size_t>(slot) * slot_bytes_;
  return {reinterpret_cast<std::int32_t*>(at + largest_at_), reinterpret_cast<std::int32_t*>(at + sums_at_),
          reinterpret_cast<std::int32_t*>(at + starts_at_), reinterpret_cast<std::int8_t*>(at + codes_at_)};
}

/// body(begin, end) for [0, count), on this thread if threads share the images.
template <class Body>
void CodeConvolution::for_parts(Index count, Index elements, const Body& body) const {
  by_images_ ? body(Index{0}, count) : parallel_for(count, grain_of(elements), body);
}

/// Inverse and scale for an image with this largest magnitude.
NumbersToCodes CodeConvolution::quantization(const CodeConvolutionOperands& operands, float largest,
                                             float& scale) const {
  NumbersToCodes numbers;
  const detail::Int8Scale by_largest(largest + operands.epsilon);
  numbers.inverse = by_largest.inverse;
  scale = by_largest.scale;
  if (operands.factor != nullptr && numbers.inverse > 0) {
    numbers.inverse = *operands.factor;
    numbers.clips = true;
    scale = 1 / numbers.inverse;
  }
  return numbers;
}

void CodeConvolution::convolve(const CodeConvolutionOperands& operands, Index image, const ImageMemory& memory) const {
  const Index row = shape_.width * shape_.channels, size = size_of(shape_.x);
  const char* const x = static_cast<const char*>(operands.x) + image * shape_.height * row * size;
  for_parts(shape_.height, row, [&](Index begin, Index end) {
    for (Index y = begin; y < end; ++y) memory.largest[y] = windows_.largest[shape_.x](x + y * row * size, row);
  });
  float largest = 0, scale = 0;
  std::memcpy(&largest, std::max_element(memory.largest, memory.largest + shape_.height), sizeof largest);
  const NumbersToCodes numbers = quantization(operands, largest, scale);
  for_parts(shape_.padded_height(), shape_.padded_width() * shape_.pixel(), [&](Index begin, Index end) {
    for (Index y = begin; y < end; ++y) quantize_row(x, y, numbers, memory);
  });
  const Index rows = shape_.strides[0] * shape_.padded_width();  // pixels between lines
  const Index line_pixels = shape_.flat() ? line_ : rows;
  const Index group = std::max<Index>(1, group_bytes / std::max<Index>(1, line_pixels * shape_.pixel()));
  for_parts(lines_, line_ * shape_.depth() * panels_, [&](Index begin, Index end) {
    for (Index line = begin; line < end; ++line) set_starts(line, memory);
    for (; begin < end; begin += group) {
      const Index last = std::min(end, begin + group);
      for (Index panel = 0; panel < panels_; ++panel) {
        for (Index line = begin; line < last; ++line) multiply(operands, image, line, panel, scale, memory);
      }
    }
  });
}

/// Codes of a padded row and the sums of its pixels.
void CodeConvolution::quantize_row(const char* x, Index y, NumbersToCodes numbers, const ImageMemory& memory) const {
  const Index pixel = shape_.pixel(), width = shape_.padded_width(), of_x = y - shape_.padding[0];
  std::int8_t* const to = memory.codes + y * width * pixel;
  if (of_x < 0 || of_x >= shape_.height) {
    std::memset(to, 0, static_cast<std::size_t>(width * pixel));
    std::fill_n(memory.sums + y * width, width, 0);
    return;
  }
  const char* const from = x + of_x * shape_.width * shape_.channels * size_of(shape_.x);
  std::int8_t* const inside = to + shape_.padding[2] * pixel;
  std::memset(to, 0, static_cast<std::size_t>(shape_.padding[2] * pixel));
  std::memset(inside + shape_.width * pixel, 0, static_cast<std::size_t>(shape_.padding[3] * pixel));
  const bool whole = pixel == shape_.channels;
  numbers.count = whole ? shape_.width * shape_.channels : shape_.channels;
  for (Index i = 0; i < (whole ? 1 : shape_.width); ++i) {
    numbers.from = from + i * numbers.count * size_of(shape_.x);
    numbers.to = inside + i * pixel;
    if (!whole) std::memset(numbers.to + shape_.channels, 0, static_cast<std::size_t>(pixel - shape_.channels));
    windows_.quantize[shape_.x](numbers);
  }
  windows_.sums(to, width, pixel, memory.sums + y * width);
}

/// First values of the sums of a line's windows.
void CodeConvolution::set_starts(Index line, const ImageMemory& memory) const {
  const Index first = line * line_, last = std::min(shape_.windows(), first + line_);
  if (shape_.flat()) {
    std::transform(memory.sums + first, memory.sums + last, memory.starts + first,
                   [](std::int32_t sum) { return -128 * sum; });
    return;
  }
  std::fill(memory.starts + first, memory.starts + last, 0);
  for (Index r = 0; r < shape_.kernel_height; ++r) {
    const std::int32_t* const row =
        memory.sums + (line * shape_.strides[0] + r * shape_.dilation[0]) * shape_.padded_width();
    for (Index s = 0; s < shape_.kernel_width; ++s) {
      const std::int32_t* const from = row + s * shape_.dilation[1];
      for (Index i = 0; i < line_; ++i) memory.starts[first + i] -= 128 * from[i * shape_.strides[1]];
    }
  }
}

void CodeConvolution::multiply(const CodeConvolutionOperands& operands, Index image, Index line, Index panel,
                               float scale, const ImageMemory& memory) const {
  const Index pixel = shape_.pixel(), first = line * line_, column = panel * products_.panel;
  const Index begin = shape_.flat() ? first : line * shape_.strides[0] * shape_.padded_width();
  const Index place = ((image * shape_.windows() + first) * shape_.filters + column) * size_of(shape_.out);
  const bool gaps = shape_.dilation[1] > 1;  // pixels of a row of a window are apart
  windows_.product[shape_.out]({
      .x = memory.codes + begin * pixel,
      .x_width = shape_.strides[1] * pixel,
      .segments = shape_.kernel_height,
      .x_segment = shape_.dilation[0] * shape_.padded_width() * pixel,
      .taps = gaps ? shape_.kernel_width : 1,
      .x_tap = shape_.dilation[1] * pixel,
      .words = (gaps ? 1 : shape_.kernel_width) * pixel / 4,
      .starts = memory.starts + first,
      .scale = scale,
      .panel = operands.panels + panel * panel_pitch(),
      .column_scales = operands.column_scales + column,
      .bias = operands.bias + column,
      .residual = operands.residual != nullptr ? static_cast<const char*>(operands.residual) + place : nullptr,
      .out = static_cast<char*>(operands.out) + place,
      .out_width = shape_.filters,
      .rows = std::min(line_, shape_.windows() - first),
      .columns = std::min(products_.panel, shape_.filters - column),
      .least = shape_.limits.least,
      .most = shape_.limits.most,
  });
}

}  // namespace mezzo::xsimd_kernels
