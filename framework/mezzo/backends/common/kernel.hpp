#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>

// Parts of kernels that several backends share.
namespace mezzo {

/// Minimal number of elements for a separate thread.
constexpr std::int64_t grain = 16384;

/// Minimal number of items of `elements` elements each for a separate thread.
inline std::int64_t grain_of(std::int64_t elements) { return elements < grain ? grain / (elements + 1) + 1 : 1; }

/// True for bfloat16 and float16, the dtypes of storage whose arithmetic is done in a wider dtype.
inline bool is_half(DType dtype) { return dtype == DType::bfloat16 || dtype == DType::float16; }

/// True if the last step of a matmul, convolution or batch_norm is a fused ReLU.
inline bool has_relu(const KernelRequest& request) {
  return request.attributes.get_or("epilogue", detail::Epilogue::none) == detail::Epilogue::relu;
}

/// Sets the reason why an implementation declines a request and returns null: `return decline(reason, "takes float32
/// operands; got {}", dtype)`.
template <class... Arguments>
std::unique_ptr<Kernel> decline(std::string& reason, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  reason = fmt::format(text, std::forward<Arguments>(arguments)...);
  return nullptr;
}

/// True if all operands and results are float32; sets the reason otherwise.
bool is_of_float32(const KernelRequest& request, std::string& reason);

/// A kernel that calls run(arguments). `overwrites[i]`: output 0 may use the memory of input i, by default of none.
/// `scratch`: bytes of scratch memory.
std::unique_ptr<Kernel> make_kernel(std::function<void(const KernelArguments&)> run, std::vector<bool> overwrites = {},
                                    std::size_t scratch = 0);

/// True for each input with the shape and the element size of output 0: output 0 of an elementwise kernel may use their
/// memory.
std::vector<bool> like_output(const KernelRequest& request);

/// A kernel that calls body(arguments, begin, end) for parts of the elements of output 0, on all threads. Output 0 may
/// use the memory of inputs like_output().
std::unique_ptr<Kernel> make_elementwise_kernel(
    const KernelRequest& request,
    std::function<void(const KernelArguments&, std::int64_t begin, std::int64_t end)> body);

/// The best kernel of a cast, for kernels that compute in another dtype than that of their operands.
std::unique_ptr<Kernel> cast_kernel(const Shape& shape, DType from, DType to, const std::string& where);

/// Allocates 64-byte aligned pieces of scratch memory, as offsets in bytes.
class ScratchLayout {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = size_;
    size_ += (bytes + 63) / 64 * 64;
    return offset;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

}  // namespace mezzo

namespace mezzo::reference {

/// Calls make(zero of the C++ type) if `dtype` is float32 or float64 and no operand is bfloat16 or float16; declines
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

/// Likewise for the dtypes of input 0 and output 0: make(zero, zero).
template <class Make>
std::unique_ptr<Kernel> for_input_and_output(const KernelRequest& request, std::string& reason, Make&& make) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    return for_float_or_double(request, request.outputs[0].dtype, reason,
                               [&](auto out_zero) { return make(zero, out_zero); });
  });
}

}  // namespace mezzo::reference
