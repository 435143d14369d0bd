#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/one_thread.hpp>
#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/backends/xsimd/implementations.hpp>
#include <mezzo/compiler/pass_attributes.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<detail::Implementation> concatenate(const std::vector<std::vector<detail::Implementation>>& lists) {
  std::vector<detail::Implementation> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Implementations that decline operands without elements and leave them to the reference: sizes of 0 break their
/// merging of axes, division of work and primitives.
std::vector<detail::Implementation> with_elements(std::vector<detail::Implementation> list) {
  for (detail::Implementation& implementation : list) {
    implementation.create = [create = std::move(implementation.create)](
                                const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
      for (const auto* specs : {&request.inputs, &request.outputs}) {
        for (const Spec& spec : *specs) {
          if (element_count(spec.shape) == 0)
            return decline(reason, "takes operands with elements; got shape {}", spec.shape);
        }
      }
      return create(request, reason);
    };
  }
  return list;
}

/// Implementations that don't round right operands.
std::vector<detail::Implementation> that_round_no_operand(std::vector<detail::Implementation> list) {
  for (detail::Implementation& implementation : list)
    implementation = detail::without_attribute(std::move(implementation), ops::matmul, detail::rounds_right);
  return list;
}

/// For kernels of matrix products and convolutions. Kernels of other ops choose their number of threads themselves.
std::vector<detail::Implementation> on_one_thread_if_small(std::vector<detail::Implementation> list) {
  for (detail::Implementation& implementation : list) implementation = one_thread_if_small(std::move(implementation));
  return list;
}

}  // namespace

std::vector<detail::Implementation> kernel_table() {
  const auto first = concatenate({
      with_elements(without_wide_epilogues(on_one_thread_if_small(int8_implementations()))),  // products of int8
      with_elements(depthwise_implementations()),                         // convolutions with one filter a channel
      with_elements(without_wide_epilogues(few_taps_implementations())),  // convolutions with sums of few terms
      with_elements(without_wide_epilogues(few_rows_implementations())),  // matrix products of at most 8 rows
      with_elements(without_wide_epilogues(float32_matmul_implementations())),  // float32 products in bfloat16
      with_elements(on_one_thread_if_small(winograd_implementations())),   // 3 x 3 convolutions with fewer products
      with_elements(packed_implementations()),                             // products with constants, and strides
      with_elements(outer_product_implementations()),                      // gradients of kernels, with many rows
      with_elements(without_wide_epilogues(pointwise_implementations())),  // 1 x 1 convolutions
  });
  // Products with AVX2, also those that round their right operand.
  const auto gemm = with_elements(without_wide_epilogues(on_one_thread_if_small(gemm_implementations())));
  const auto last = concatenate({
      with_elements(without_wide_epilogues(on_one_thread_if_small(onednn_implementations()))),  // products
      with_elements(int8_emulation()),               // products of int8 that the implementations above decline
      with_elements(int8_convolution_emulation()),   // the same of convolutions
      with_elements(xsimd_implementations()),        // ops limited by memory bandwidth
      with_elements(codes_implementations()),        // products with quantized weights
      with_elements(dequantized_implementations()),  // the same, as floats
      apart_implementations(),                       // residuals and limits that the implementations above decline
      widen_implementations(),      // operands in bfloat16 or float16 that the implementations above decline
      reference_implementations(),  // all ops, in float32 and float64
  });
  return concatenate({that_round_no_operand(first), gemm, that_round_no_operand(last)});
}

}  // namespace mezzo
