#include <mezzo/backends/onednn/request.hpp>

#include <mezzo/backends/onednn/implementations.hpp>

namespace mezzo::onednn {

bool takes_operands(const KernelRequest& request, std::string& reason) {
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype == DType::bfloat16) {
        if (!onednn_has_native_bfloat16()) reason = "needs bfloat16 in hardware (AVX512_CORE_BF16)";
      } else if (spec.dtype != DType::float32) {
        reason = std::string("has no ") + dtype_name(spec.dtype);
      }
      if (element_count(spec.shape) == 0) reason = "no elements";
    }
  }
  return reason.empty();
}

dnnl::memory::data_type type_of(const Spec& spec) {
  return spec.dtype == DType::bfloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

Array bias_of(const KernelRequest& request, std::size_t rank, std::size_t axis) {
  if (request.inputs.size() < 3) return {};
  const Spec& bias = request.inputs[2];
  Array array{Sizes(rank, 1), Sizes(rank, bias.shape[0]), type_of(bias)};
  array.sizes[axis] = bias.shape[0];
  array.strides[axis] = 1;
  return array;
}

}  // namespace mezzo::onednn
