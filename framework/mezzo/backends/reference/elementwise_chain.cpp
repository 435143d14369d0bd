#include <algorithm>
#include <cstddef>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/ops/elementwise_program.hpp>

namespace mezzo::reference {
namespace {

/// Runs the kernels of the single ops one after the other, with their results in scratch memory.
class Chain final : public Kernel {
 public:
  explicit Chain(const KernelRequest& request)
      : function_(request.attributes.get<std::shared_ptr<const detail::AttributeFunction>>("program")),
        program_(dynamic_cast<const ElementwiseProgram&>(*function_)) {
    const Shape& shape = request.outputs[0].shape;
    ScratchLayout layout;
    std::size_t most = 0;
    for (const ElementwiseStep& step : program_.steps) {
      most = std::max(most, step.operands.size());
      const Spec result{shape, step.dtype};
      kernels_.push_back(choose_kernel({.op = step.op,
                                        .attributes = step.attributes,
                                        .inputs = program_.operands_of(step, request.inputs, shape),
                                        .outputs = {result},
                                        .where = request.where})
                             .kernel);
      results_.push_back(layout.take(bytes_of(result)));
    }
    pointers_ = layout.take(most * sizeof(void*));
    rest_ = layout.size();
    bytes_ = rest_;
    for (const auto& kernel : kernels_) bytes_ = std::max(bytes_, rest_ + kernel->scratch_bytes());
    for (const std::size_t i : program_.outputs) sizes_.push_back(bytes_of({shape, program_.steps[i].dtype}));
  }

  void run(const KernelArguments& arguments) override {
    auto* scratch = static_cast<std::byte*>(arguments.scratch);
    auto** operands = reinterpret_cast<const void**>(scratch + pointers_);
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const std::vector<std::size_t>& from = program_.steps[i].operands;
      for (std::size_t k = 0; k < from.size(); ++k) {
        const bool input = from[k] < program_.inputs;
        operands[k] = input ? arguments.inputs[from[k]] : scratch + results_[from[k] - program_.inputs];
      }
      void* result = scratch + results_[i];
      kernels_[i]->run({operands, &result, scratch + rest_});
    }
    for (std::size_t k = 0; k < sizes_.size(); ++k) {
      std::copy_n(scratch + results_[program_.outputs[k]], sizes_[k], arguments.out<std::byte>(k));
    }
  }

  std::size_t scratch_bytes() const override { return bytes_; }
  std::string detail() const override { return program_.text(); }

 private:
  const std::shared_ptr<const detail::AttributeFunction> function_;
  const ElementwiseProgram& program_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::size_t> results_, sizes_;  // offset of each result, bytes of each output
  std::size_t pointers_ = 0, rest_ = 0, bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> create_elementwise_chain(const KernelRequest& request, std::string&) {
  return std::make_unique<Chain>(request);
}

}  // namespace mezzo::reference
