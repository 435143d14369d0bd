#include <algorithm>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>

namespace mezzo::reference {
namespace {

/// The gradient of the norm in scratch memory, then those of the convolution.
class PointwiseNormGradient final : public Kernel {
 public:
  PointwiseNormGradient(const KernelRequest& request, std::string& reason) {
    const Spec &y = request.inputs[1], &x = request.inputs[6], &kernel = request.inputs[7];
    KernelRequest of_norm = request;
    of_norm.inputs.resize(6);
    of_norm.outputs = {y, request.outputs[2], request.outputs[3]};
    norm_ = create_batch_norm_gradient(of_norm, reason);
    KernelRequest of_convolution{.op = request.op,
                                 .attributes = {{"strides", Shape{1, 1}},
                                                {"padding", Shape{0, 0, 0, 0}},
                                                {"dilation", Shape{1, 1}},
                                                {"groups", std::int64_t{1}}},
                                 .inputs = {y, kernel},
                                 .outputs = {request.outputs[0]},
                                 .where = request.where};
    of_input_ = create_conv2d_input_gradient(of_convolution, reason);
    of_convolution.inputs = {x, y};
    of_convolution.outputs = {request.outputs[1]};
    of_kernel_ = create_conv2d_kernel_gradient(of_convolution, reason);
    if (!complete()) return;
    dy_ = layout_.take(bytes_of(y));
    rest_ = layout_.take(std::max({norm_->scratch_bytes(), of_input_->scratch_bytes(), of_kernel_->scratch_bytes()}));
  }

  bool complete() const { return norm_ && of_input_ && of_kernel_; }

  void run(const KernelArguments& k) override {
    void *const dy = static_cast<char*>(k.scratch) + dy_, *const rest = static_cast<char*>(k.scratch) + rest_;
    void* const of_norm[] = {dy, k.outputs[2], k.outputs[3]};
    norm_->run({k.inputs, of_norm, rest});
    const void* const of_input[] = {dy, k.inputs[7]};
    of_input_->run({of_input, k.outputs, rest});
    const void* const of_kernel[] = {k.inputs[6], dy};
    of_kernel_->run({of_kernel, k.outputs + 1, rest});
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  std::unique_ptr<Kernel> norm_, of_input_, of_kernel_;
  ScratchLayout layout_;
  std::size_t dy_ = 0, rest_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> create_pointwise_norm_gradient(const KernelRequest& request, std::string& reason) {
  auto kernel = std::make_unique<PointwiseNormGradient>(request, reason);
  if (!kernel->complete()) return nullptr;
  return kernel;
}

}  // namespace mezzo::reference
