#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/matrix_stack.hpp>

namespace mezzo::reference {
namespace {

template <class T, class Out>
std::unique_ptr<Kernel> matmul(const KernelRequest& request) {
  const bool batched = is_batched(request);
  const ProductSize size = product_size(request, batched);
  const bool transpose_a = request.attributes.get_or<bool>("transpose_a", false);
  const bool transpose_b = request.attributes.get_or<bool>("transpose_b", false);
  const Stack a = stack_of(request.inputs[0].shape, transpose_a, batched);
  const Stack b = stack_of(request.inputs[1].shape, transpose_b, batched);
  const bool has_bias = request.inputs.size() > 2;
  const bool relu = has_relu(request);
  return make_kernel([=](const KernelArguments& arguments) {
    const T* bias = has_bias ? arguments.in<T>(2) : nullptr;
    tiled_product<T>(
        size,
        [&](std::int64_t batch, std::int64_t i, std::int64_t k, std::int64_t count, T* to) {
          a.copy(arguments.in<T>(0), batch, i, k, count, to);
        },
        [&](std::int64_t batch, std::int64_t k, std::int64_t j, std::int64_t count, T* to) {
          b.copy(arguments.in<T>(1), batch, k, j, count, to);
        },
        [&](std::int64_t batch, std::int64_t i, std::int64_t j, std::int64_t count, const T* sums) {
          Out* out = arguments.out<Out>(0) + (batch * size.rows + i) * size.columns + j;
          for (std::int64_t n = 0; n < count; ++n) out[n] = static_cast<Out>(finish(sums[n], bias, j + n, relu));
        });
  });
}

}  // namespace

std::unique_ptr<Kernel> create_matmul(const KernelRequest& request, std::string& reason) {
  if (request.attributes.has("products")) return create_int8_matmul(request, reason);
  return for_input_and_output(
      request, reason, [&](auto zero, auto out_zero) { return matmul<decltype(zero), decltype(out_zero)>(request); });
}

}  // namespace mezzo::reference
