#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/core/parallel.hpp>

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

/// Output 0 as float32: itself, or scratch memory that finish() rounds to it.
class WideResult {
 public:
  WideResult() = default;
  WideResult(const KernelRequest& request, ScratchLayout& layout) : count_(element_count(request.outputs[0].shape)) {
    const Spec& spec = request.outputs[0];
    if (spec.dtype == DType::float32) return;
    wide_ = layout.take(bytes_of({spec.shape, DType::float32}));
    narrow_ = cast_kernel(spec.shape, DType::float32, spec.dtype, request.where);
  }

  float* place(const KernelArguments& arguments) const {
    return narrow_ ? reinterpret_cast<float*>(static_cast<char*>(arguments.scratch) + wide_) : arguments.out<float>(0);
  }

  void finish(const KernelArguments& arguments) const {
    if (!narrow_) return;
    const void* const from = place(arguments);
    narrow_->run({&from, arguments.outputs, nullptr});
  }

  /// Sets the output to the sum of `blocks` arrays that follow each other.
  void set_to_sum(const KernelArguments& arguments, const float* sums, std::int64_t blocks) const {
    float* const to = place(arguments);
    parallel_for(count_, grain_of(blocks), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        double sum = 0;
        for (std::int64_t block = 0; block < blocks; ++block) sum += static_cast<double>(sums[block * count_ + i]);
        to[i] = static_cast<float>(sum);
      }
    });
    finish(arguments);
  }

 private:
  std::int64_t count_ = 0;
  std::size_t wide_ = 0;
  std::unique_ptr<Kernel> narrow_;
};

}  // namespace mezzo::xsimd_kernels
