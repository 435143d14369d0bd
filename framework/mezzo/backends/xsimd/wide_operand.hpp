#pragma once
#include <cstddef>
#include <memory>

#include <mezzo/backends/common/kernel.hpp>

namespace mezzo::xsimd_kernels {

/// An operand as float32: itself, or a copy in scratch memory.
class WideOperand {
 public:
  WideOperand() = default;
  WideOperand(const KernelRequest& request, std::size_t input, ScratchLayout& layout) : input_(input) {
    const Spec& spec = request.inputs[input];
    if (spec.dtype == DType::float32) return;
    copy_ = layout.take(bytes_of({spec.shape, DType::float32}));
    widen_ = cast_kernel(spec.shape, spec.dtype, DType::float32, request.where);
  }

  const float* read(const KernelArguments& arguments) const {
    if (!widen_) return arguments.in<float>(input_);
    const void* from = arguments.inputs[input_];
    void* to = static_cast<char*>(arguments.scratch) + copy_;
    widen_->run({&from, &to, nullptr});
    return static_cast<const float*>(to);
  }

 private:
  std::size_t input_ = 0, copy_ = 0;
  std::unique_ptr<Kernel> widen_;
};

}  // namespace mezzo::xsimd_kernels
