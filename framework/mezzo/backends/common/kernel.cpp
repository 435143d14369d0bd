#include <mezzo/backends/common/kernel.hpp>

#include <mezzo/graph/op_registry.hpp>

namespace mezzo {
namespace {

/// A kernel whose run() is a function object.
class RunKernel final : public Kernel {
 public:
  RunKernel(std::function<void(const KernelArguments&)> run, std::vector<bool> overwrites, std::size_t scratch)
      : run_(std::move(run)), overwrites_(std::move(overwrites)), scratch_(scratch) {}

  void run(const KernelArguments& arguments) override { run_(arguments); }
  std::size_t scratch_bytes() const override { return scratch_; }
  bool may_overwrite(std::size_t i, std::size_t output) const override {
    return output == 0 && i < overwrites_.size() && overwrites_[i];
  }

 private:
  const std::function<void(const KernelArguments&)> run_;
  const std::vector<bool> overwrites_;
  const std::size_t scratch_;
};

}  // namespace

bool is_of_float32(const KernelRequest& request, std::string& reason) {
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype == DType::float32) continue;
      decline(reason, "takes float32; got {}", spec.dtype);
      return false;
    }
  }
  return true;
}

std::unique_ptr<Kernel> make_kernel(std::function<void(const KernelArguments&)> run, std::vector<bool> overwrites,
                                    std::size_t scratch) {
  return std::make_unique<RunKernel>(std::move(run), std::move(overwrites), scratch);
}

std::vector<bool> like_output(const KernelRequest& request) {
  const Spec& output = request.outputs[0];
  std::vector<bool> alike;
  for (const Spec& input : request.inputs) {
    alike.push_back(input.shape == output.shape && dtype_size(input.dtype) == dtype_size(output.dtype));
  }
  return alike;
}

std::unique_ptr<Kernel> make_elementwise_kernel(
    const KernelRequest& request,
    std::function<void(const KernelArguments&, std::int64_t begin, std::int64_t end)> body) {
  const std::int64_t size = element_count(request.outputs[0].shape);
  return make_kernel(
      [size, body = std::move(body)](const KernelArguments& arguments) {
        parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) { body(arguments, begin, end); });
      },
      like_output(request));
}

std::unique_ptr<Kernel> cast_kernel(const Shape& shape, DType from, DType to, const std::string& where) {
  return choose_kernel({.op = &cast_op(),
                        .attributes = {{"dtype", to}},
                        .inputs = {{shape, from}},
                        .outputs = {{shape, to}},
                        .where = where})
      .kernel;
}

}  // namespace mezzo
