#include <cstring>
#include <iostream>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/ops/host_function.hpp>

namespace mezzo::reference {
namespace {

/// An array of that spec with a copy of the bytes.
Tensor copy_of(const Spec& spec, const void* data) {
  Tensor out = Tensor::uninitialized(spec.shape, spec.dtype);
  if (out.bytes() > 0) std::memcpy(out.mutable_raw(), data, out.bytes());
  return out;
}

void check_result(const KernelRequest& request, const Tensor& result) {
  const Spec& expected = request.outputs[0];
  if (result.dtype() != expected.dtype) {
    fail<DTypeError>(request.where, "the function's result must be {} {}; got {}", expected.dtype, expected.shape,
                     result);
  }
  if (result.shape() != expected.shape) {
    fail<ShapeError>(request.where, "the function's result must be {} {}; got {}", expected.dtype, expected.shape,
                     result);
  }
}

}  // namespace

std::unique_ptr<Kernel> create_host(const KernelRequest& request, std::string&) {
  return make_kernel([request](const KernelArguments& arguments) {
    const auto function = std::static_pointer_cast<const HostFunction>(
        request.attributes.get<std::shared_ptr<const detail::AttributeFunction>>("function"));
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
      inputs.push_back(copy_of(request.inputs[i], arguments.inputs[i]));
    }
    const Tensor result = function->function(inputs);
    check_result(request, result);
    if (result.bytes() > 0) std::memcpy(arguments.outputs[0], result.raw(), result.bytes());
  });
}

std::unique_ptr<Kernel> create_print(const KernelRequest& request, std::string&) {
  return make_kernel([request](const KernelArguments& arguments) {
    const Tensor x = copy_of(request.inputs[0], arguments.inputs[0]);
    const auto& message = request.attributes.get<std::string>("message");
    std::cout << message << (message.empty() ? "" : " ") << x << std::endl;  // flushed: it appears while the step runs
    if (x.bytes() > 0) std::memcpy(arguments.outputs[0], x.raw(), x.bytes());
  });
}

}  // namespace mezzo::reference
