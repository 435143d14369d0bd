#pragma once

#include <map>
#include <string>
#include <vector>

#include <mezzo/backends/onednn/creators.hpp>

#include "support/kernels.hpp"

namespace mezzo_tests {

// oneDNN's kernel, also where its table would leave bfloat16 to "widen" because that is faster.
inline std::unique_ptr<mezzo::Kernel> create_onednn(const mezzo::KernelRequest& request, std::string& reason) {
  static const std::map<std::string, mezzo::onednn::Creator*> creators{
      {"matmul", mezzo::onednn::make_matmul},
      {"conv2d", mezzo::onednn::make_conv2d},
      {"conv2d_input_gradient", mezzo::onednn::make_conv2d_input_gradient},
      {"conv2d_kernel_gradient", mezzo::onednn::make_conv2d_kernel_gradient}};
  return creators.at(request.op->name)(request, reason);
}

// What the reference computes in float64.
inline mezzo::Tensor exact_result(const std::string& op, mezzo::Attributes attributes,
                                  std::vector<mezzo::Tensor> inputs) {
  for (mezzo::Tensor& input : inputs) input = input.cast(mezzo::DType::float64);
  if (attributes.has("dtype")) attributes.set("dtype", mezzo::DType::float64);
  return run_kernel("reference", op, attributes, inputs).outputs.at(0);
}

// An op's operands and attributes, for a comparison of oneDNN with the reference.
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
    std::string text = op + " " + attributes.to_string();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      text += " " + mezzo::to_string(shapes[i]) + " " + mezzo::dtype_name(dtypes[i]);
    }
    return text;
  }
};

// Why it failed, or nothing. `depth`: how many products each number is the sum of. Small integers must come out exact
// (rounded once), random numbers within what sums of `depth` float32s lose.
inline std::string compare_with_reference(const OneDnnCase& c, double depth) {
  const auto inputs = c.inputs(true);
  const mezzo::KernelRequest request = kernel_request(c.op, c.attributes, inputs);
  std::string reason;
  const auto kernel = create_onednn(request, reason);
  if (!kernel) return "declined: " + (reason.empty() ? "no reason" : reason);
  const mezzo::DType out = request.outputs[0].dtype;
  const mezzo::Tensor exact = exact_result(c.op, c.attributes, inputs).cast(out);
  // Twice, since addresses are bound when they change only.
  for (int run = 0; run < 2; ++run) {
    const double difference = largest_difference(run_kernel(*kernel, request, inputs)[0], exact);
    if (difference != 0) return "integers differ by " + std::to_string(difference) + " (" + kernel->detail() + ")";
  }
  const auto numbers = c.inputs(false);
  const double rounding = out == mezzo::DType::bfloat16 ? 1.0 / 256 : 0;
  const double difference =
      largest_difference(run_kernel(*kernel, request, numbers)[0], exact_result(c.op, c.attributes, numbers));
  if (difference > rounding * 1.01 + 5e-7 * std::sqrt(depth)) {
    return "random numbers differ by " + std::to_string(difference) + " (" + kernel->detail() + ")";
  }
  return {};
}

}  // namespace mezzo_tests
