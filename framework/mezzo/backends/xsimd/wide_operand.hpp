#pragma once
#include <algorithm>
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

/// Adds the numbers of `blocks` arrays, `distance` apart, in double.
inline void sum_blocks(const float* from, std::int64_t distance, std::int64_t blocks, std::int64_t count, float* to) {
  if (blocks == 1) {
    std::copy_n(from, count, to);
    return;
  }
  constexpr std::int64_t line = 16;  // floats that are read at a time
  for (std::int64_t begin = 0; begin < count; begin += line) {
    const std::int64_t some = std::min(line, count - begin);
    double total[line] = {};
    for (std::int64_t block = 0; block < blocks; ++block) {
      for (std::int64_t i = 0; i < some; ++i) total[i] += static_cast<double>(from[block * distance + begin + i]);
    }
    for (std::int64_t i = 0; i < some; ++i) to[begin + i] = static_cast<float>(total[i]);
  }
}

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
      sum_blocks(sums + begin, count_, blocks, end - begin, to + begin);
    });
    finish(arguments);
  }

 private:
  std::int64_t count_ = 0;
  std::size_t wide_ = 0;
  std::unique_ptr<Kernel> narrow_;
};

}  // namespace mezzo::xsimd_kernels
