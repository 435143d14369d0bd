#include <algorithm>
#include <optional>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/split_operand.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/isa_kernels.hpp>
#include <mezzo/core/isa.hpp>

// Every finite float16 is the sum of two bfloat16, and the product of two bfloat16 is exact in float32. Therefore a
// product of float16 operands equals a product of bfloat16 operands with four times the depth, summed in float32:
//   [high finite_high low low] times [high low finite_high low]
// It differs from the float32 product of the same numbers only in the order of the additions.

namespace mezzo::onednn {
namespace {

constexpr std::int64_t part_count = 4;

/// The parts of the left operand, or those of the right one.
Splitter splitter(SplitOperand::Side side) {
  const std::int64_t finite_high = side == SplitOperand::Side::left ? 1 : 2;
  const auto split = xsimd_kernels::kernels(isa()).float16_split.split;
  return [=](const void* x, bfloat16* high, std::int64_t next, std::int64_t count) {
    split(static_cast<const float16*>(x), high, high + finite_high * next, high + (3 - finite_high) * next,
          high + 3 * next, count);
  };
}

/// An operand that is cast to or from scratch memory; no cast if null.
struct Converted {
  std::unique_ptr<Kernel> cast;
  std::size_t offset = 0;

  void* place(void* scratch) const { return static_cast<char*>(scratch) + offset; }
};

class SplitMatmul final : public Kernel {
 public:
  SplitMatmul(const KernelRequest& request, std::string& reason) {
    KernelRequest inner = request;
    inner.constants.clear();  // of float16
    ScratchLayout layout;
    const auto transposed = [&](const char* name) { return request.attributes.get_or<bool>(name, false); };
    const auto left = SplitOperand::Side::left, right = SplitOperand::Side::right;
    left_.emplace(inner.inputs[0], left, transposed("transpose_a"), part_count, splitter(left), layout);
    right_.emplace(inner.inputs[1], right, transposed("transpose_b"), part_count, splitter(right), layout);
    const auto widen = [&](Spec& spec, Converted& to, bool input) {
      const DType narrow = std::exchange(spec.dtype, DType::float32);
      to = {input ? cast_kernel(spec.shape, narrow, DType::float32, request.where)
                  : cast_kernel(spec.shape, DType::float32, narrow, request.where),
            layout.take(bytes_of(spec))};
    };
    input_count_ = inner.inputs.size();
    if (has_bias() && inner.inputs[2].dtype == DType::float16) widen(inner.inputs[2], bias_, true);
    if (inner.outputs[0].dtype == DType::float16) widen(inner.outputs[0], output_, false);
    inner.attributes.set("dtype", inner.outputs[0].dtype);
    inner_ = make_matmul(inner, reason);
    if (!inner_) return;
    rest_ = layout.size();
    scratch_bytes_ = inner_->scratch_bytes();
    for (const Converted* one : {&bias_, &output_}) {
      if (one->cast) scratch_bytes_ = std::max(scratch_bytes_, one->cast->scratch_bytes());
    }
    scratch_bytes_ += rest_;
  }

  bool accepted() const { return inner_ != nullptr; }

  void run(const KernelArguments& arguments) override {
    void* const scratch = arguments.scratch;
    void* const rest = static_cast<char*>(scratch) + rest_;
    const void* inputs[] = {left_->run(arguments.inputs[0], scratch), right_->run(arguments.inputs[1], scratch),
                            has_bias() ? arguments.inputs[2] : nullptr};
    if (bias_.cast) {
      void* const wide = bias_.place(scratch);
      bias_.cast->run({&inputs[2], &wide, rest});
      inputs[2] = wide;
    }
    void* out = output_.cast ? output_.place(scratch) : arguments.outputs[0];
    inner_->run({inputs, &out, rest});
    if (output_.cast) {
      const void* const wide = out;
      output_.cast->run({&wide, arguments.outputs, rest});
    }
  }

  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  bool may_overwrite(std::size_t i, std::size_t) const override { return i < 2 || output_.cast || bias_.cast; }
  std::string detail() const override { return "bfloat16 onednn " + inner_->detail(); }

 private:
  bool has_bias() const { return input_count_ > 2; }

  std::optional<SplitOperand> left_, right_;
  Converted bias_, output_;
  std::unique_ptr<Kernel> inner_;
  std::size_t input_count_ = 0, rest_ = 0, scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_split_matmul(const KernelRequest& request, std::string& reason) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (request.inputs[i].dtype != DType::float16) {
      return decline(reason, "takes float16 operands; got {}", request.inputs[i].dtype);
    }
  }
  auto kernel = std::make_unique<SplitMatmul>(request, reason);
  return kernel->accepted() ? std::move(kernel) : nullptr;
}

}  // namespace mezzo::onednn
