#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/implementations.hpp>
#include <mezzo/compiler/packed_constants.hpp>
#include <mezzo/core/cpu.hpp>

#include "support/kernels.hpp"
#include "support/skip.hpp"

namespace mezzo_tests {

inline const std::vector<mezzo::DType> xsimd_dtypes{mezzo::DType::float32, mezzo::DType::bfloat16,
                                                    mezzo::DType::float16};

// Sizes below, at and above whole registers and blocks of 64.
inline const std::vector<std::int64_t> xsimd_sizes{1, 3, 7, 8, 15, 16, 17, 65, 1003};
// A size that several threads share.
constexpr std::int64_t shared_size = 33001;

// Calls body(isa) for every ISA from `least` on that this machine has; reports the others as skipped.
template <class Body>
void for_each_isa(const Body& body, mezzo::Isa least = mezzo::Isa::sse2) {
  for (const auto isa : {mezzo::Isa::sse2, mezzo::Isa::avx2, mezzo::Isa::avx512, mezzo::Isa::avx512_bf16}) {
    if (isa < least) continue;
    if (isa > mezzo::isa()) {
      skip(fmt::format("needs {}", mezzo::isa_name(isa)));
      continue;
    }
    BOOST_TEST_CONTEXT(mezzo::isa_name(isa)) { body(isa); }
  }
}

// Calls body(isa) for the instruction sets with products of int8, if this machine has them.
template <class Body>
void for_each_int8_isa(const Body& body) {
  if (!mezzo::has_int8_products()) return skip("needs AVX512_VNNI");
  for_each_isa(body, mezzo::Isa::avx512);
}

// The results of the reference in float32 for the same numbers, rounded to the dtypes of `outputs`.
inline std::vector<mezzo::Tensor> widened_reference(const std::string& op, mezzo::Attributes attributes,
                                                    std::vector<mezzo::Tensor> inputs,
                                                    const std::vector<mezzo::Spec>& outputs) {
  for (const char* name : {"dtype", "copy_dtype"}) {
    if (attributes.has(name) && mezzo::is_half(attributes.get<mezzo::DType>(name))) {
      attributes.set(name, mezzo::DType::float32);
    }
  }
  for (mezzo::Tensor& input : inputs) {
    if (mezzo::is_half(input.dtype())) input = input.cast(mezzo::DType::float32);
  }
  std::vector<mezzo::Tensor> results = run_reference(op, attributes, inputs);
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = results[i].cast(outputs[i].dtype);
  return results;
}

// Runs the kernel on inputs and outputs that are aligned only to their elements, inputs that end where their memory
// ends, and guards after the outputs. True if that gives the bits of `expected` and changes no guard.
inline bool same_unaligned(mezzo::Kernel& kernel, const std::vector<mezzo::Tensor>& inputs,
                           const std::vector<mezzo::Tensor>& expected) {
  constexpr std::int64_t guard = 64;
  const auto bytes = [](const mezzo::Tensor& tensor) { return static_cast<std::int64_t>(tensor.bytes()); };
  std::vector<std::vector<std::byte>> copies;
  std::vector<const void*> in;
  for (const mezzo::Tensor& input : inputs) {
    const std::size_t offset = mezzo::dtype_size(input.dtype());
    copies.emplace_back(input.bytes() + offset);
    std::memcpy(copies.back().data() + offset, input.raw(), input.bytes());
    in.push_back(copies.back().data() + offset);
  }
  std::vector<mezzo::Tensor> guarded;
  std::vector<void*> out;
  for (const mezzo::Tensor& output : expected) {
    const std::size_t offset = mezzo::dtype_size(output.dtype());
    guarded.push_back(garbage({static_cast<std::int64_t>(offset) + bytes(output) + guard}, mezzo::DType::uint8));
    out.push_back(static_cast<std::byte*>(guarded.back().mutable_raw()) + offset);
  }
  mezzo::Tensor scratch = garbage({static_cast<std::int64_t>(kernel.scratch_bytes())}, mezzo::DType::uint8);
  kernel.run({in.data(), out.data(), scratch.mutable_raw()});
  const mezzo::Tensor untouched = garbage({guard}, mezzo::DType::uint8);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::memcmp(out[i], expected[i].raw(), expected[i].bytes()) != 0) return false;
    const std::int64_t size = guarded[i].size();
    if (!guarded[i].slice(size - guard, size).equal(untouched)) return false;
  }
  return true;
}

inline bool all_equal(const std::vector<mezzo::Tensor>& a, const std::vector<mezzo::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const mezzo::Tensor& x, const mezzo::Tensor& y) { return x.equal(y); });
}

// Checks that kernels with these operands as constants share one packed array, and compute the same as without.
inline void check_packed_once(mezzo::KernelRequest request, const std::vector<mezzo::Tensor>& inputs,
                              const std::vector<std::size_t>& constants) {
  std::string reason;
  const auto plain = mezzo::xsimd_kernel(request, mezzo::isa(), reason);
  const std::vector<mezzo::Tensor> expected = run_kernel(*plain, request, inputs);
  for (const std::size_t i : constants) request.constants[i] = inputs[i];
  const std::size_t before = mezzo::detail::packed_constant_count();
  const auto one = mezzo::xsimd_kernel(request, mezzo::isa(), reason);
  const auto two = mezzo::xsimd_kernel(request, mezzo::isa(), reason);
  BOOST_TEST(mezzo::detail::packed_constant_count() == before + 1);
  BOOST_TEST(one->detail() == "VNNI, packed");
  BOOST_TEST(all_equal(run_kernel(*one, request, inputs), expected));
}

// Compares xsimd's kernel for one ISA with `expected`: in float32 to `tolerance`, in other dtypes to the last place if
// that is larger; exactly if `tolerance` is 0. Also checks that unaligned inputs, numbers of threads and outputs in the
// memory of inputs change no bit.
inline void check_xsimd_on(mezzo::Isa isa, const mezzo::KernelRequest& request,
                           const std::vector<mezzo::Tensor>& inputs, const std::vector<mezzo::Tensor>& expected,
                           double tolerance) {
  std::string reason;
  const auto kernel = mezzo::xsimd_kernel(request, isa, reason);
  BOOST_TEST_REQUIRE(kernel != nullptr, reason);
  const std::vector<mezzo::Tensor> outputs = run_kernel(*kernel, request, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const mezzo::DType dtype = outputs[i].dtype();
    const double place = dtype == mezzo::DType::bfloat16 ? 0x1p-7 : dtype == mezzo::DType::float16 ? 0x1p-10 : 0;
    BOOST_TEST(largest_difference(outputs[i], expected[i]) <= (tolerance > 0 ? std::max(place, tolerance) : 0),
               "output " << i << " differs by " << largest_difference(outputs[i], expected[i]));
  }
  BOOST_TEST(same_unaligned(*kernel, inputs, outputs),
             "unaligned inputs change the outputs, or the kernel writes past their end");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!kernel->may_overwrite(i, k) || inputs[i].bytes() != outputs[k].bytes()) continue;
      BOOST_TEST(all_equal(run_kernel(*kernel, request, inputs, static_cast<int>(i), k), outputs),
                 "output " << k << " is wrong in the memory of input " << i);
    }
  }
  std::int64_t largest = 0;
  for (const mezzo::Tensor& input : inputs) largest = std::max(largest, input.size());
  if (largest < shared_size) return;
  const int threads = mezzo::thread_count();
  for (const int some : {1, 3}) {
    mezzo::set_thread_count(some);
    BOOST_TEST(all_equal(run_kernel(*kernel, request, inputs), outputs), "differs on " << some << " threads");
  }
  mezzo::set_thread_count(threads);
}

// x and another operand, then gamma, mean, inverse deviation and shift of a norm of x.
inline std::vector<mezzo::Tensor> with_norm(std::vector<mezzo::Tensor> operands) {
  const mezzo::Shape channels{operands[0].shape().back()};
  const double ranges[][2] = {{1, 2}, {-0.5, 0.5}, {1, 2}, {0, 4}};
  std::uint64_t seed = 11;
  for (const auto& [low, high] : ranges) {
    operands.push_back(random_tensor(channels, mezzo::DType::float32, seed++, low, high));
  }
  return operands;
}

// Compares xsimd's kernels for every ISA with the reference.
inline void check_xsimd(const std::string& op, const mezzo::Attributes& attributes,
                        const std::vector<mezzo::Tensor>& inputs, double tolerance) {
  const mezzo::KernelRequest request = kernel_request(op, attributes, inputs);
  const auto expected = widened_reference(op, attributes, inputs, request.outputs);
  std::string text = fmt::format("{} {}", op, attributes.to_string());
  for (const mezzo::Tensor& input : inputs) text += fmt::format(", {}", input);
  BOOST_TEST_CONTEXT(text) {
    for_each_isa([&](mezzo::Isa isa) { check_xsimd_on(isa, request, inputs, expected, tolerance); });
  }
}

// Compares large results, which kernels write past the caches to aligned memory, with those in unaligned memory.
inline void check_past_caches(const std::string& op, const mezzo::Attributes& attributes,
                              const std::vector<mezzo::Tensor>& inputs) {
  const mezzo::KernelRequest request = kernel_request(op, attributes, inputs);
  BOOST_TEST_REQUIRE(mezzo::bytes_of(request.outputs[0]) > std::size_t{16} << 20);
  const int threads = mezzo::thread_count();
  mezzo::set_thread_count(std::min(threads, 2));  // more keep more in their caches
  for_each_isa([&](mezzo::Isa isa) {
    std::string reason;
    const auto kernel = mezzo::xsimd_kernel(request, isa, reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    BOOST_TEST(same_unaligned(*kernel, inputs, run_kernel(*kernel, request, inputs)));
  });
  mezzo::set_thread_count(threads);
}

}  // namespace mezzo_tests
