#include <mezzo/backends/xsimd/packed/packed.hpp>

#include <algorithm>
#include <optional>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/packed/packed_matrix.hpp>
#include <mezzo/backends/xsimd/packed/strided_gradient.hpp>
#include <mezzo/backends/xsimd/packed/strides.hpp>
#include <mezzo/backends/xsimd/packed/windows.hpp>

// A convolution is a product of the windows of x, whose rows lie without gaps in memory, with the kernel as a matrix.
// The pixels of a row of the output are rows of the product. A constant kernel is packed once, when the plan is made,
// others in each run.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

class PackedKernel final : public Kernel {
 public:
  PackedKernel(const KernelRequest& request, const Windows& windows, bool transposed, Isa isa)
      : product_(kernels(isa).packed.*
                 (request.inputs[0].dtype == DType::float32 ? &PackedFunctions::float32 : &PackedFunctions::bfloat16)),
        windows_(windows),
        columns_(request.outputs[0].shape.back()),
        panel_(kernels(isa).products.panel),
        size_(size_of(request.inputs[0].dtype)),
        count_(round_up(columns_, panel_) / panel_),
        residual_(residual_of(request)),
        limits_(limits_of(request)),
        few_rows_(windows.lines == 1 && windows.rows <= most_few_rows) {
    if (windows_.padded()) padded_ = layout_.take(static_cast<std::size_t>(windows_.padded_numbers() * size_));
    const Index depth = windows.segments * windows.depth;
    if (request.constants.count(1) > 0) {
      matrix_.emplace(request.constants.at(1), depth, columns_, transposed, isa);
    } else {
      panels_.emplace(request, 1, depth, columns_, transposed, kernels(isa).products, layout_);
    }
    const bool biased = has_bias(request);
    if (!biased || request.constants.count(2) > 0) {
      bias_ = packed_bias(biased ? &request.constants.at(2) : nullptr, columns_, panel_);
    } else {
      copied_bias_ = layout_.take(float_bytes(count_ * panel_));
    }
    by_panels_ = count_ * panel_ * depth > windows_.lines * windows_.rows * windows_.x_width;
  }

  void run(const KernelArguments& arguments) override {
    const char* x = arguments.in<char>(0);
    if (windows_.padded()) {
      char* const padded = static_cast<char*>(arguments.scratch) + padded_;
      windows_.pad(x, size_, padded);
      x = padded;
    }
    if (panels_) panels_->pack(arguments);
    if (!bias_) {
      float* const end = std::copy_n(arguments.in<float>(2), columns_, floats_at(arguments, copied_bias_));
      std::fill_n(end, count_ * panel_ - columns_, 0.0F);
    }
    const Index depth = windows_.segments * windows_.depth;
    if (by_panels_) {
      constexpr Index reading = 8;  // rows whose products take the time of reading the panel
      parallel_for(count_, grain_of(std::max(reading, windows_.lines * windows_.rows) * depth),
                   [&](Index begin, Index end) { multiply(arguments, x, 0, windows_.lines, begin, end); });
    } else {
      parallel_for(windows_.lines, grain_of(windows_.rows * depth * count_),
                   [&](Index begin, Index end) { multiply(arguments, x, begin, end, 0, count_); });
    }
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  void multiply(const KernelArguments& arguments, const char* x, Index begin, Index end, Index first_panel,
                Index last_panel) const {
    for_lines_and_panels(begin, end, windows_.rows * windows_.x_width * size_, first_panel, last_panel,
                         [&](Index line, Index panel) { multiply_line(arguments, x, line, panel); });
  }

  void multiply_line(const KernelArguments& arguments, const char* x, Index line, Index panel) const {
    const Index column = panel * panel_, place = (line * windows_.rows * columns_ + column) * size_;
    const float* const bias = bias_ ? static_cast<const float*>(bias_->data()) : floats_at(arguments, copied_bias_);
    product_({.x = x + windows_.begin_of(line) * size_,
              .x_width = windows_.x_width,
              .segments = windows_.segments,
              .x_segment = windows_.x_segment,
              .depth = windows_.depth,
              .panel = matrix_ ? matrix_->panel(panel) : panels_->panel(arguments, panel),
              .bias = bias + column,
              .residual = residual_ ? arguments.in<char>(*residual_) + place : nullptr,
              .out = arguments.out<char>(0) + place,
              .out_width = columns_,
              .rows = windows_.rows_of(line),
              .columns = std::min(panel_, columns_ - column),
              .few_rows = few_rows_,
              .least = limits_.least,
              .most = limits_.most});
  }

  const PackedFunctions::Product product_;
  const Windows windows_;
  const Index columns_, panel_, size_, count_;          ///< count_: of panels
  std::optional<PackedMatrix> matrix_;                  ///< a constant right operand
  std::optional<KernelPanels> panels_;                  ///< otherwise
  std::shared_ptr<const detail::PackedConstant> bias_;  ///< constant, or zeros; null: copied in each run
  const std::optional<std::size_t> residual_;
  const Limits limits_;
  ScratchLayout layout_;
  std::size_t padded_ = 0, copied_bias_ = 0;
  bool by_panels_ = false;
  const bool few_rows_;
};

/// True if the dtypes of a product with constants are those that the instruction set multiplies. Sets the reason
/// otherwise.
bool takes_constants(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  const bool pairs =
      dtype == DType::bfloat16 && kernels(isa).packed.bfloat16 != nullptr && multiplies_pairs(kernels(isa).products);
  if (dtype != DType::float32 && !pairs) {
    decline(reason, "takes float32, and bfloat16 where its products are fast; got {}", dtype);
    return false;
  }
  for (const Spec* const spec : {&request.inputs[1], &request.outputs[0]}) {
    if (spec->dtype == dtype) continue;
    decline(reason, "takes operands of one dtype; got {} and {}", dtype, spec->dtype);
    return false;
  }
  return true;
}

/// True for windows whose numbers form whole pairs, if they are multiplied in pairs. Sets the reason otherwise.
bool takes_windows(const KernelRequest& request, const Windows& windows, std::string& reason) {
  if (request.inputs[0].dtype == DType::float32 ||
      (windows.depth % 2 == 0 && windows.x_width % 2 == 0 && windows.x_segment % 2 == 0)) {
    return true;
  }
  decline(reason, "takes even numbers of terms of bfloat16; got {}", windows.depth);
  return false;
}

std::unique_ptr<Kernel> make_packed_convolution(const KernelRequest& request, Isa isa, std::string& reason) {
  if (has_constants(request) ? !takes_constants(request, isa, reason) : !takes_strides(request, reason)) return nullptr;
  if (request.attributes.get<Index>("groups") != 1 || request.attributes.get<Shape>("dilation") != Shape{1, 1}) {
    return decline(reason, "takes convolutions without groups and dilation");
  }
  const Windows windows = windows_of_convolution(request);
  if (!takes_windows(request, windows, reason)) return nullptr;
  return std::make_unique<PackedKernel>(request, windows, false, isa);
}

std::unique_ptr<Kernel> make_packed_matmul(const KernelRequest& request, Isa isa, std::string& reason) {
  reason.clear();
  if (!has_constants(request) || !takes_constants(request, isa, reason)) return nullptr;
  if (request.inputs[1].shape.size() != 2 || request.attributes.get_or("transpose_a", false)) {
    return decline(reason, "takes a plain left operand and one matrix");
  }
  const Windows windows = windows_of_rows(request.inputs[0].shape);
  if (!takes_windows(request, windows, reason)) return nullptr;
  return std::make_unique<PackedKernel>(request, windows, request.attributes.get_or("transpose_b", false), isa);
}

}  // namespace

bool has_constants(const KernelRequest& request) {
  return request.constants.count(1) > 0 && (!has_bias(request) || request.constants.count(2) > 0);
}

Entries packed_entries() {
  return {entry<make_packed_convolution>("conv2d"), entry<make_packed_matmul>("matmul"),
          entry<make_strided_gradient>("conv2d_input_gradient")};
}

}  // namespace mezzo::xsimd_kernels
