#include <cstring>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/ops/scan_body.hpp>

namespace mezzo::reference {
namespace {

/// Runs the plan of the body once for each iteration, in scratch memory. The kernels of the body are the best ones of
/// all backends.
class LoopKernel final : public Kernel {
 public:
  explicit LoopKernel(const KernelRequest& request)
      : at_(request.attributes), plan_(run_passes(at_.body->graph), arena_), addresses_(request.inputs.size()) {
    for (const Spec& spec : plan_.inputs()) input_bytes_.push_back(bytes_of(spec));
    for (const auto& output : at_.body->graph.outputs) {
      output_bytes_.push_back(bytes_of({output.value.shape(), output.value.dtype()}));
    }
  }

  void run(const KernelArguments& arguments) override {
    arena_->borrow(static_cast<unsigned char*>(arguments.scratch), plan_.arena_bytes());
    for (std::size_t i = 0; i < addresses_.size(); ++i) addresses_[i] = arguments.inputs[i];
    for (std::int64_t i = 0; i < at_.length; ++i) {
      iteration(arguments, static_cast<std::size_t>(at_.reverse ? at_.length - 1 - i : i));
      for (std::size_t k = 0; k < at_.carries; ++k) addresses_[k] = arguments.outputs[k];
    }
    if (at_.length > 0) return;
    for (std::size_t k = 0; k < at_.carries; ++k) {
      copy(arguments.outputs[k], arguments.inputs[k], input_bytes_[k]);
    }
  }

  std::size_t scratch_bytes() const override { return plan_.arena_bytes(); }
  std::string detail() const override { return fmt::format("{} kernels, {} times", plan_.rows().size(), at_.length); }

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  /// The iteration at `place` of the sequences.
  void iteration(const KernelArguments& arguments, std::size_t place) {
    for (std::size_t k = at_.carries; k < at_.carries + at_.sequences; ++k) {
      addresses_[k] = arguments.in<unsigned char>(k) + place * input_bytes_[k];
    }
    const auto element = [&](std::size_t output, std::size_t bytes) {
      return arguments.out<unsigned char>(output) + place * bytes;
    };
    for (std::size_t k = 0; at_.saves && k < at_.carries; ++k) {
      copy(element(at_.carries + at_.outputs + k, input_bytes_[k]), addresses_[k], input_bytes_[k]);
    }
    plan_.run_body(addresses_.data());
    for (std::size_t k = 0; k < at_.carries; ++k) {
      copy(arguments.outputs[k], plan_.output_address(k), output_bytes_[k]);
    }
    for (std::size_t k = at_.carries; k < at_.carries + at_.outputs; ++k) {
      copy(element(k, output_bytes_[k]), plan_.output_address(k), output_bytes_[k]);
    }
  }

  const detail::ScanLayout at_;
  const std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  detail::Plan plan_;
  std::vector<const void*> addresses_;  // of the inputs of the body
  std::vector<std::size_t> input_bytes_, output_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> create_scan(const KernelRequest& request, std::string&) {
  return std::make_unique<LoopKernel>(request);
}

}  // namespace mezzo::reference
