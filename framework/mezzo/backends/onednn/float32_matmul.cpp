#include <algorithm>
#include <optional>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/split_operand.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/isa_kernels.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/core/isa.hpp>

// A float32 number is the sum of a bfloat16, high, and a rest whose rounding to bfloat16, low, has an error of 2^-17 of
// the number. The product of two such sums without low low is one product of bfloat16 operands with three times the
// depth, summed in float32:
//   [high finite_high low] times [high low finite_high]
// finite_high is high, but 0 if it is infinite or NaN: infinity times the low 0 would be NaN.

namespace mezzo::onednn {
namespace {

/// The parts of the left operand, or those of the right one.
Splitter splitter(SplitOperand::Side side, std::int64_t parts) {
  const auto& functions = xsimd_kernels::kernels(isa()).float32_split;
  if (parts == 1) {
    return [round = functions.round](const void* x, bfloat16* high, std::int64_t, std::int64_t count) {
      round(static_cast<const float*>(x), high, count);
    };
  }
  const std::int64_t finite_high = side == SplitOperand::Side::left ? 1 : 2;
  return [=, split = functions.split](const void* x, bfloat16* high, std::int64_t next, std::int64_t count) {
    split(static_cast<const float*>(x), high, high + finite_high * next, high + (3 - finite_high) * next, count);
  };
}

class Float32Matmul final : public Kernel {
 public:
  Float32Matmul(const KernelRequest& request, std::int64_t parts, std::string& reason) : parts_(parts) {
    KernelRequest inner = request;
    inner.constants.clear();  // of float32
    inner.attributes.set("dtype", DType::float32);
    ScratchLayout layout;
    const auto transposed = [&](const char* name) { return request.attributes.get_or<bool>(name, false); };
    const auto left = SplitOperand::Side::left, right = SplitOperand::Side::right;
    left_.emplace(inner.inputs[0], left, transposed("transpose_a"), parts, splitter(left, parts), layout);
    right_.emplace(inner.inputs[1], right, transposed("transpose_b"), parts, splitter(right, parts), layout);
    biased_ = request.inputs.size() > 2;
    inner_ = make_matmul(inner, reason);
    if (!inner_) return;
    rest_ = layout.size();
    scratch_bytes_ = rest_ + inner_->scratch_bytes();
  }

  bool accepted() const { return inner_ != nullptr; }

  void run(const KernelArguments& arguments) override {
    void* const scratch = arguments.scratch;
    const void* const inputs[] = {left_->run(arguments.inputs[0], scratch), right_->run(arguments.inputs[1], scratch),
                                  biased_ ? arguments.inputs[2] : nullptr};
    inner_->run({inputs, arguments.outputs, static_cast<char*>(scratch) + rest_});
  }

  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  bool may_overwrite(std::size_t i, std::size_t) const override { return i < 2; }
  std::string detail() const override { return (parts_ == 1 ? "onednn " : "x3 onednn ") + inner_->detail(); }

 private:
  std::int64_t parts_;
  std::optional<SplitOperand> left_, right_;
  std::unique_ptr<Kernel> inner_;
  bool biased_ = false;
  std::size_t rest_ = 0, scratch_bytes_ = 0;
};

double numbers_in(const Spec& spec) { return static_cast<double>(element_count(spec.shape)); }

}  // namespace

std::unique_ptr<Kernel> make_float32_matmul(const KernelRequest& request, std::int64_t parts, std::string& reason) {
  if (!is_of_float32(request, reason)) return nullptr;
  auto kernel = std::make_unique<Float32Matmul>(request, parts, reason);
  return kernel->accepted() ? std::move(kernel) : nullptr;
}

std::string prefers_float32_products(const KernelRequest& request, bool three, bool has_amx, bool fast_bfloat16) {
  const char* const name = three ? "high" : "medium";
  if (three && !has_amx) {
    return fmt::format("float32_matmul_precision \"{}\" needs AMX: without it three products of bfloat16 are slower",
                       name);
  }
  if (!fast_bfloat16) {
    return fmt::format("float32_matmul_precision \"{}\" needs a CPU that multiplies bfloat16 faster than float32",
                       name);
  }
  // Operands are converted at about 0.1 ns an element; a thousand operations take 2.5 ns in float32 on 2 cores.
  constexpr double worthwhile = 128;
  const double per_element = operations(request) / (numbers_in(request.inputs[0]) + numbers_in(request.inputs[1]));
  if (per_element > worthwhile) return {};
  return fmt::format(
      "float32_matmul_precision \"{}\" is for products with more than {} operations an operand element; "
      "got {:.4g}",
      name, worthwhile, per_element);
}

}  // namespace mezzo::onednn
