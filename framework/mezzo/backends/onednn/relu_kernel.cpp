#include <mezzo/backends/onednn/relu_kernel.hpp>

#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/ops/op_set.hpp>

// oneDNN's ReLU is MAXPS with 0 as its second operand, which it returns for NaN; no post-op or chain of post-ops
// returns NaN for NaN and 0 for -infinity. But MAXPS sets the sticky flag of an invalid operation in MXCSR if an
// operand is NaN (Intel's and AMD's manuals). Therefore the fused primitive runs, and the flag of each thread of the
// pool is read after it: 1 to 2 us for any size. If a flag is set, the product is computed again without the post-op,
// and the op's own kernel computes the ReLU. A second pass over the output would take 20 % of a convolution's time.
namespace mezzo::onednn {
namespace {

/// Number of this pool's threads with a set flag of an invalid operation. Clears the flags.
int take_invalid_flags(int threads) {
  std::atomic<int> found{0};
  parallel_threads(threads, [&](int, int) {
    const unsigned control = _mm_getcsr();
    if ((control & _MM_EXCEPT_INVALID) == 0) return;
    _mm_setcsr(control & ~static_cast<unsigned>(_MM_EXCEPT_INVALID));
    ++found;
  });
  return found;
}

/// Result of flags_are_visible(), for the largest number of threads so far.
struct FlagCheck {
  int threads = 0;
  bool visible = false;
};

/// Applies oneDNN's ReLU to NaN in place, with work for all threads, and returns the number of flags.
int flags_of_relu(int threads) {
  const std::int64_t count = threads * grain;
  std::vector<float> x(static_cast<std::size_t>(count), std::numeric_limits<float>::quiet_NaN());
  const Array array{{count}, {1}, dnnl::memory::data_type::f32};
  const Offer offer = offer_relu(array);
  if (!offer.accepted()) return 0;
  PrimitiveKernel kernel(offer.descriptor,
                         {{.argument = DNNL_ARG_SRC, .output = false, .index = 0, .plain = array.plain()},
                          {.argument = DNNL_ARG_DST, .output = true, .index = 0, .plain = array.plain()}});
  std::vector<unsigned char> scratch(kernel.scratch_bytes());
  const void* in = x.data();
  void* out = x.data();
  take_invalid_flags(threads);
  kernel.run({&in, &out, scratch.data()});
  return take_invalid_flags(threads);
}

/// True if oneDNN's ReLU of NaN sets the flag of each thread of mezzo's pool. False if oneDNN uses another pool, and
/// under an emulator that sets no flags.
bool flags_are_visible() {
  auto& check = detail::ExecutionContext::current().part<FlagCheck>();
  const int threads = thread_count();
  if (threads > check.threads) {
    const unsigned control = _mm_getcsr();
    check = {threads, flags_of_relu(threads) == threads};
    _mm_setcsr(control);
  }
  return check.visible;
}

class ReluKernel final : public Kernel {
 public:
  /// `fused` is null, or the product with oneDNN's ReLU.
  ReluKernel(const KernelRequest& request, std::unique_ptr<Kernel> product, std::unique_ptr<Kernel> fused)
      : output_(request.outputs[0]),
        product_(std::move(product)),
        fused_(std::move(fused)),
        relu_(
            choose_kernel(
                {.op = &ops::relu, .attributes = {}, .inputs = {output_}, .outputs = {output_}, .where = request.where})
                .kernel) {}

  void run(const KernelArguments& arguments) override {
    if (fused_ && clears_) take_invalid_flags(threads());
    if (fused_) {
      fused_->run(arguments);
      if (take_invalid_flags(threads()) == 0) return;
    }
    product_->run(arguments);
    const void* const y = arguments.outputs[0];
    relu_->run({&y, arguments.outputs, arguments.scratch});
    if (fused_ && all_finite(y, output_)) expect_false_alarms();
  }

  std::size_t scratch_bytes() const override {
    return std::max({product_->scratch_bytes(), relu_->scratch_bytes(), fused_ ? fused_->scratch_bytes() : 0});
  }
  std::string detail() const override { return fused_ ? fused_->detail() : product_->detail() + ", relu apart"; }

 private:
  int threads() const { return std::max(threads_, thread_count()); }

  /// Reacts to a flag without NaN: first it may come from an earlier kernel, later it comes from this primitive.
  void expect_false_alarms() {
    if (clears_) fused_.reset();
    clears_ = true;
  }

  Spec output_;
  std::unique_ptr<Kernel> product_, fused_, relu_;
  int threads_ = thread_count();  // of the primitive
  bool clears_ = false;           // clears the flags before the fused primitive
};

/// True if the last step of the primitive is its ReLU, on all threads. A reorder after it may use fewer, and libgomp
/// ends the threads that a region doesn't use.
bool ends_with_relu(const Offer& offer, const std::vector<Operand>& operands) {
  return std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return !operand.output || offer.descriptor.query_md(dnnl::query::exec_arg_md, operand.argument) == operand.plain;
  });
}

std::string name_of(const Offer& offer) { return offer.descriptor.impl_info_str(); }

}  // namespace

std::unique_ptr<Kernel> make_relu_kernel(const KernelRequest& request, const std::function<Offer(bool relu)>& offer,
                                         const std::vector<Operand>& operands, std::string& reason) {
  const Offer plain = offer(false);
  auto product = make_kernel(plain, operands, reason);
  if (!product) return nullptr;
  std::unique_ptr<Kernel> fused;
  // A small output is still in the cache: its ReLU takes less time than reading the flags.
  if (element_count(request.outputs[0].shape) > grain && flags_are_visible()) {
    const Offer with_relu = offer(true);
    std::string refusal;
    // The same implementation, so that a flag without NaN doesn't change the rounding.
    if (with_relu.accepted() && ends_with_relu(with_relu, operands) && name_of(with_relu) == name_of(plain)) {
      fused = make_kernel(with_relu, operands, refusal);
    }
  }
  return std::make_unique<ReluKernel>(request, std::move(product), std::move(fused));
}

}  // namespace mezzo::onednn
