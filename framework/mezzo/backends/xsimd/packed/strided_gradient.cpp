#include <mezzo/backends/xsimd/packed/strided_gradient.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/gemm/gemm.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/packed/packed.hpp>
#include <mezzo/backends/xsimd/packed/packed_matrix.hpp>
#include <mezzo/backends/xsimd/packed/strides.hpp>
#include <mezzo/backends/xsimd/packed/windows.hpp>

// Pixels of x whose places differ by multiples of the stride meet the same taps of the kernel. Their gradients are a
// convolution without strides of the cotangents by these taps, turned: a product of windows of the cotangents, whose
// rows lie without gaps in memory, with the taps as a matrix.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Along one axis, the pixels first, first + stride, ... of x, and the taps tap, tap + stride, ... of the kernel.
struct Phase {
  Index first = 0, count = 0;
  Index tap = 0, taps = 0;
  Index begin = 0;  ///< place of the first pixel's window in the cotangents; below 0: in their padding
};

/// The phases of an axis, and the padding of the cotangents that their windows reach.
struct Axis {
  std::vector<Phase> phases;
  Index before = 0, after = 0;

  Axis(Index size, Index kernel, Index stride, Index padding, Index out) {
    for (Index tap = 0; tap < stride; ++tap) {
      Phase phase{.first = ((tap - padding) % stride + stride) % stride,
                  .tap = tap,
                  .taps = tap < kernel ? (kernel - tap + stride - 1) / stride : 0};
      if (phase.first >= size) continue;
      phase.count = (size - 1 - phase.first) / stride + 1;
      // The last cotangent of the first pixel's window meets the first tap.
      const Index last = (phase.first + padding - tap) / stride;
      phase.begin = last - (phase.taps - 1);
      if (phase.taps > 0) {
        before = std::max(before, -phase.begin);
        after = std::max(after, last + phase.count - out);
      }
      phases.push_back(phase);
    }
  }
};

class StridedGradient final : public Kernel {
 public:
  StridedGradient(const KernelRequest& request, Isa isa)
      : product_(kernels(isa).packed.float32),
        pack_(kernels(isa).gemm.float32.transposed_right),
        panel_(kernels(isa).gemm.panel),
        x_(request.outputs[0].shape),
        kernel_(request.inputs[1].shape),
        strides_(request.attributes.get<Shape>("strides")),
        panels_(round_up(x_[3], panel_) / panel_),
        rows_(axis(request, 0)),
        columns_(axis(request, 1)),
        zeros_(packed_bias(nullptr, panel_, panel_)) {
    const Shape& g = request.inputs[0].shape;
    cotangents_.images = g[0], cotangents_.height = g[1], cotangents_.width = g[2], cotangents_.channels = g[3];
    cotangents_.top = rows_.before, cotangents_.left = columns_.before;
    cotangents_.padded_width = columns_.before + g[2] + columns_.after;
    const Index height = rows_.before + g[1] + rows_.after;
    if (height > g[1] || cotangents_.padded_width > g[2]) {
      cotangents_.padded_height = height;
      padded_ = layout_.take(float_bytes(cotangents_.padded_numbers()));
    }
    image_pitch_ = height * cotangents_.padded_width * g[3];
    Index packed = 0;
    for (const Phase& row : rows_.phases) {
      for (const Phase& column : columns_.phases) {
        matrices_.push_back(packed);
        packed += row.taps * column.taps * g[3] * panels_ * panel_;
      }
    }
    packed_ = layout_.take(float_bytes(packed));
  }

  void run(const KernelArguments& arguments) override {
    const float* g = arguments.in<float>(0);
    if (cotangents_.padded()) {
      cotangents_.pad(arguments.in<char>(0), sizeof(float), reinterpret_cast<char*>(floats_at(arguments, padded_)));
      g = floats_at(arguments, padded_);
    }
    pack(arguments);
    for (std::size_t i = 0; i < rows_.phases.size(); ++i) {
      const Phase& rows = rows_.phases[i];
      const Index work = rows.taps * kernel_[1] * kernel_[3] * x_[2] * x_[3] / strides_[1];
      parallel_for(x_[0] * rows.count, grain_of(work), [&](Index begin, Index end) {
        for (std::size_t k = 0; k < columns_.phases.size(); ++k) multiply(arguments, g, i, k, begin, end);
      });
    }
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  Axis axis(const KernelRequest& request, std::size_t i) const {
    return Axis(x_[i + 1], kernel_[i], strides_[i], request.attributes.get<Shape>("padding")[2 * i],
                request.inputs[0].shape[i + 1]);
  }

  /// Packed taps of phase i of the rows and phase k of the columns.
  float* matrix(const KernelArguments& arguments, std::size_t i, std::size_t k) const {
    return floats_at(arguments, packed_) + matrices_[i * columns_.phases.size() + k];
  }

  void pack(const KernelArguments& arguments) const {
    const Index taps = kernel_[0] * kernel_[1], filters = kernel_[3];
    parallel_for(taps, grain_of(kernel_[2] * filters), [&](Index begin, Index end) {
      for (Index tap = begin; tap < end; ++tap) pack_tap(arguments, tap / kernel_[1], tap % kernel_[1]);
    });
  }

  void pack_tap(const KernelArguments& arguments, Index row, Index column) const {
    const auto with_tap = [](const Axis& axis, Index tap, Index stride) {
      return std::find_if(axis.phases.begin(), axis.phases.end(),
                          [&](const Phase& p) { return p.tap == tap % stride; });
    };
    const auto of_rows = with_tap(rows_, row, strides_[0]);
    const auto of_columns = with_tap(columns_, column, strides_[1]);
    if (of_rows == rows_.phases.end() || of_columns == columns_.phases.end()) return;  // meets no pixel
    const Index filters = kernel_[3];
    // Windows begin at the last tap.
    const Index place =
        (of_rows->taps - 1 - row / strides_[0]) * of_columns->taps + (of_columns->taps - 1 - column / strides_[1]);
    float* const to = matrix(arguments, static_cast<std::size_t>(of_rows - rows_.phases.begin()),
                             static_cast<std::size_t>(of_columns - columns_.phases.begin()));
    pack_({.from = arguments.in<float>(1) + (row * kernel_[1] + column) * kernel_[2] * filters,
           .width = filters,
           .depth = filters,
           .count = kernel_[2],
           .readable = filters,
           .to = to + place * filters * panel_,
           .pitch = of_rows->taps * of_columns->taps * filters * panel_});
  }

  /// Computes phase k of the columns in some rows of phase i: row r is of image r / count.
  void multiply(const KernelArguments& arguments, const float* g, std::size_t i, std::size_t k, Index begin,
                Index end) const {
    const Index row_bytes = cotangents_.padded_width * kernel_[3] * static_cast<Index>(sizeof(float));
    for_lines_and_panels(begin, end, row_bytes, 0, panels_,
                         [&](Index row, Index panel) { multiply_row(arguments, g, i, k, row, panel); });
  }

  void multiply_row(const KernelArguments& arguments, const float* g, std::size_t i, std::size_t k, Index row,
                    Index panel) const {
    const Phase &rows = rows_.phases[i], &columns = columns_.phases[k];
    const Index image = row / rows.count, pixel = row % rows.count, filters = kernel_[3];
    const Index width = cotangents_.padded_width * filters, depth = columns.taps * filters;
    const Index y = rows.first + pixel * strides_[0], column = panel * panel_;
    const Index from = (rows_.before + rows.begin + pixel) * width + (columns_.before + columns.begin) * filters;
    // Without taps, the product is a sum of no terms.
    product_({.x = g + image * image_pitch_ + (rows.taps > 0 && columns.taps > 0 ? from : 0),
              .x_width = filters,
              .segments = rows.taps,
              .x_segment = width,
              .depth = depth,
              .panel = matrix(arguments, i, k) + panel * rows.taps * depth * panel_,
              .bias = static_cast<const float*>(zeros_->data()),
              .out = arguments.out<float>(0) + ((image * x_[1] + y) * x_[2] + columns.first) * x_[3] + column,
              .out_width = strides_[1] * x_[3],
              .rows = columns.count,
              .columns = std::min(panel_, x_[3] - column),
              .least = -std::numeric_limits<float>::infinity(),
              .most = std::numeric_limits<float>::infinity()});
  }

  const PackedFunctions::Product product_;
  const GemmPacking::Pack pack_;
  const Index panel_;
  const Shape x_, kernel_, strides_;
  const Index panels_;
  const Axis rows_, columns_;
  const std::shared_ptr<const detail::PackedConstant> zeros_;
  Windows cotangents_;  ///< their sizes and padding
  Index image_pitch_ = 0;
  std::vector<Index> matrices_;  ///< places of the packed taps, by phases of rows and columns
  ScratchLayout layout_;
  std::size_t padded_ = 0, packed_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_strided_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_strides(request, reason)) return nullptr;
  if (request.constants.count(1) > 0)
    return decline(reason, "leaves constant kernels to oneDNN, which packs them once");
  if (request.attributes.get<Index>("groups") != 1 || request.attributes.get<Shape>("dilation") != Shape{1, 1}) {
    return decline(reason, "takes convolutions without groups and dilation");
  }
  return std::make_unique<StridedGradient>(request, isa);
}

}  // namespace mezzo::xsimd_kernels
