#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/backends/common/half.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::reference {

/// Elements that are worth a thread of their own.
constexpr std::int64_t grain = 16384;

/// How many items, each of `elements` elements, are worth a thread.
inline std::int64_t grain_of(std::int64_t elements) { return elements < grain ? grain / (elements + 1) + 1 : 1; }

/// A kernel made of a function, which holds all that it needs.
template <class Run>
class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(Run run, std::vector<bool> overwrites, std::size_t scratch)
      : run_(std::move(run)), overwrites_(std::move(overwrites)), scratch_(scratch) {}

  void run(const KernelArguments& arguments) override { run_(arguments); }
  std::size_t scratch_bytes() const override { return scratch_; }
  bool may_overwrite(std::size_t i) const override { return i < overwrites_.size() && overwrites_[i]; }

 private:
  const Run run_;
  const std::vector<bool> overwrites_;
  const std::size_t scratch_;
};

template <class Run>
std::unique_ptr<Kernel> make_kernel(Run run, std::vector<bool> overwrites = {}, std::size_t scratch = 0) {
  return std::make_unique<FunctionKernel<Run>>(std::move(run), std::move(overwrites), scratch);
}

/// Which inputs have the shape and the element size of output 0: those that an elementwise kernel may
/// overwrite.
inline std::vector<bool> like_output(const KernelRequest& request) {
  const Spec& output = request.outputs[0];
  std::vector<bool> alike;
  for (const Spec& input : request.inputs) {
    alike.push_back(input.shape == output.shape && dtype_size(input.dtype) == dtype_size(output.dtype));
  }
  return alike;
}

/// make(zero of the C++ type) if `dtype` is float32 or float64 and no operand is narrower; declines
/// otherwise.
template <class Make>
std::unique_ptr<Kernel> for_float_or_double(const KernelRequest& request, DType dtype, std::string& reason,
                                            Make&& make) {
  bool narrow = false;
  for (const Spec& spec : request.inputs) narrow = narrow || is_half(spec.dtype);
  for (const Spec& spec : request.outputs) narrow = narrow || is_half(spec.dtype);
  if (!narrow && dtype == DType::float32) return make(float{});
  if (!narrow && dtype == DType::float64) return make(double{});
  reason = "computes float32 and float64 only";
  return nullptr;
}

/// The same for the dtypes of input 0 and output 0: make(zero, zero).
template <class Make>
std::unique_ptr<Kernel> for_input_and_output(const KernelRequest& request, std::string& reason, Make&& make) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    return for_float_or_double(request, request.outputs[0].dtype, reason,
                               [&](auto out_zero) { return make(zero, out_zero); });
  });
}

}  // namespace mezzo::reference
