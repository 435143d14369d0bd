#include <mezzo/compiler/work.hpp>

#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/recurrence_layout.hpp>

namespace mezzo {
namespace {

double size(const Spec& spec) { return static_cast<double>(element_count(spec.shape)); }

/// Two operations per element of `images`, kernel position and input channel.
double convolution(const Spec& images, const Spec& kernel) {
  return 2 * size(images) * static_cast<double>(kernel.shape[0] * kernel.shape[1] * kernel.shape[2]);
}

/// Two operations per number of the kernel, step and sample.
double recurrence(const KernelRequest& request, bool gradient) {
  const detail::RecurrenceLayout at(request.attributes, gradient);
  const Shape& steps = request.outputs[0].shape;
  return 2 * static_cast<double>(steps[0] * steps[1]) * size(request.inputs[at.kernel]);
}

}  // namespace

double operations(const KernelRequest& request) {
  const Op* const op = request.op;
  const auto& in = request.inputs;
  const auto& out = request.outputs;
  if (op == &ops::matmul) {
    const bool transposed = request.attributes.get_or<bool>("transpose_a", false);
    const Shape& a = in[0].shape;
    return 2 * size(out[0]) * static_cast<double>(a[a.size() - (transposed ? 2 : 1)]);
  }
  if (op == &ops::conv2d || op == &ops::normalized_conv2d || op == &ops::quantized_conv2d) {
    return convolution(out[0], in[1]);
  }
  if (op == &ops::conv2d_input_gradient) return convolution(in[0], in[1]);
  if (op == &ops::conv2d_kernel_gradient || op == &ops::normalized_conv2d_kernel_gradient) {
    return convolution(in[1], out[0]);
  }
  if (op == &ops::pointwise_norm_gradient) return 2 * convolution(in[1], in[7]);
  if (op == &ops::recurrence) return recurrence(request, false);
  if (op == &ops::recurrence_gradient) return recurrence(request, true);
  if (op == &ops::recurrent_kernel_gradient) {
    double rows = 0;  // of the kernels
    for (const Spec& kernel : out) rows += static_cast<double>(kernel.shape[0]);
    return 2 * size(in[1]) * rows;
  }
  return 0;
}

bool is_pointwise(const Attributes& attributes, const Shape& kernel) {
  return kernel[0] == 1 && kernel[1] == 1 && attributes.get<std::int64_t>("groups") == 1 &&
         attributes.get<Shape>("strides") == Shape{1, 1} && attributes.get<Shape>("padding") == Shape{0, 0, 0, 0};
}

bool is_small(const KernelRequest& request) {
  double bytes = 0;
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) bytes += static_cast<double>(bytes_of(spec));
  }
  // Rates of one core with AVX2, in small operands. A parallel region of two threads takes 2 to 5 us.
  constexpr double operations_per_us = 20e3, bytes_per_us = 10e3, worthwhile_us = 5;
  return operations(request) / operations_per_us + bytes / bytes_per_us < worthwhile_us;
}

}  // namespace mezzo
