#pragma once

#include <map>
#include <string>
#include <vector>

#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/core/fail.hpp>

#include "support/kernels.hpp"

namespace mezzo_tests {

// oneDNN's kernel, even if its table would leave bfloat16 to "widen" because that is faster.
inline std::unique_ptr<mezzo::Kernel> create_onednn(const mezzo::KernelRequest& request, std::string& reason) {
  static const std::map<std::string, mezzo::onednn::Creator*> creators{
      {"matmul", mezzo::onednn::make_matmul},
      {"conv2d", mezzo::onednn::make_conv2d},
      {"conv2d_input_gradient", mezzo::onednn::make_conv2d_input_gradient},
      {"conv2d_kernel_gradient", mezzo::onednn::make_conv2d_kernel_gradient}};
  return creators.at(request.op->name)(request, reason);
}

// The result of the reference in float64.
inline mezzo::Tensor exact_result(const std::string& op, mezzo::Attributes attributes,
                                  std::vector<mezzo::Tensor> inputs) {
  for (mezzo::Tensor& input : inputs) input = input.cast(mezzo::DType::float64);
  if (attributes.has("dtype")) attributes.set("dtype", mezzo::DType::float64);
  return run_kernel("reference", op, attributes, inputs).outputs.at(0);
}

// An op with its operands and attributes, for a comparison of oneDNN with the reference.
struct OneDnnCase {
  std::string op;
  mezzo::Attributes attributes;
  std::vector<mezzo::Shape> shapes;
  std::vector<mezzo::DType> dtypes;

  std::vector<mezzo::Tensor> inputs(bool integers) const {
    std::vector<mezzo::Tensor> tensors;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      tensors.push_back(integers ? small_integers(shapes[i], dtypes[i], i + 1)
                                 : random_tensor(shapes[i], dtypes[i], i + 1));
    }
    return tensors;
  }

  std::string describe() const {
    std::string text = fmt::format("{} {}", op, attributes.to_string());
    for (std::size_t i = 0; i < shapes.size(); ++i) text += fmt::format(" {} {}", shapes[i], dtypes[i]);
    return text;
  }
};

// Runs the kernel with margins around scratch memory and output. Throws if it changes a margin.
inline mezzo::Tensor run_between_margins(mezzo::Kernel& kernel, const mezzo::KernelRequest& request,
                                         const std::vector<mezzo::Tensor>& inputs) {
  constexpr std::int64_t margin = 65536;
  const auto bytes = [](std::size_t size) {
    return garbage({static_cast<std::int64_t>((size + 63) / 64 * 64) + 2 * margin}, mezzo::DType::uint8);
  };
  mezzo::Tensor output = mezzo::Tensor::uninitialized(request.outputs[0].shape, request.outputs[0].dtype);
  mezzo::Tensor room = bytes(output.bytes()), scratch = bytes(kernel.scratch_bytes());
  std::vector<const void*> in;
  for (const mezzo::Tensor& input : inputs) in.push_back(input.raw());
  void* out = room.mutable_data<std::uint8_t>() + margin;
  kernel.run({in.data(), &out, scratch.mutable_data<std::uint8_t>() + margin});
  const auto untouched = [](const mezzo::Tensor& tensor, std::size_t used) {
    const auto* first = tensor.data<std::uint8_t>();
    const auto clean = [](std::uint8_t byte) { return byte == 0xff; };
    return std::all_of(first, first + margin, clean) &&
           std::all_of(first + margin + used, first + tensor.size(), clean);
  };
  if (!untouched(room, output.bytes()) || !untouched(scratch, kernel.scratch_bytes())) {
    mezzo::fail<mezzo::Error>("", "the kernel wrote outside of its output or scratch memory: {}", kernel.detail());
  }
  std::memcpy(output.mutable_raw(), out, output.bytes());
  return output;
}

// Compares oneDNN's kernel with the reference; returns the reason of a failure, else "". Each number of the result is
// the sum of `depth` products. Results of small integers must be exact, rounded once; results of random numbers may
// have the rounding error of `depth` float32 additions.
inline std::string compare_with_reference(const OneDnnCase& c, double depth) {
  const auto inputs = c.inputs(true);
  const mezzo::KernelRequest request = kernel_request(c.op, c.attributes, inputs);
  std::string reason;
  const auto kernel = create_onednn(request, reason);
  if (!kernel) return "declined: " + (reason.empty() ? "no reason" : reason);
  const mezzo::DType out = request.outputs[0].dtype;
  const mezzo::Tensor exact = exact_result(c.op, c.attributes, inputs).cast(out);
  // Twice, since the kernel binds addresses only when they change.
  for (int run = 0; run < 2; ++run) {
    const double difference = largest_difference(run_between_margins(*kernel, request, inputs), exact);
    if (difference != 0) return fmt::format("integers differ by {} ({})", difference, kernel->detail());
  }
  const auto numbers = c.inputs(false);
  const double rounding = out == mezzo::DType::bfloat16 ? 1.0 / 256 : 0;
  const double difference =
      largest_difference(run_between_margins(*kernel, request, numbers), exact_result(c.op, c.attributes, numbers));
  if (difference > rounding * 1.01 + 1e-6 * std::sqrt(depth)) {
    return fmt::format("random numbers differ by {} ({})", difference, kernel->detail());
  }
  return {};
}

}  // namespace mezzo_tests
