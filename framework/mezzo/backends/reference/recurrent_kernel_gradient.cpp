#include <algorithm>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/tiled_product.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// out = x^T d, for matrices with `depth` rows. left(k, i): element (k, i) of x.
template <class T, class Out, class Left>
void transposed_product(Index rows, Index columns, Index depth, const Left& left, const T* d, Out* out) {
  tiled_product<T>(
      {.batches = 1, .rows = rows, .columns = columns, .depth = depth},
      [&](Index /*batch*/, Index i, Index k, Index count, T* to) {
        for (Index n = 0; n < count; ++n) to[n] = left(k + n, i);
      },
      [&](Index /*batch*/, Index k, Index j, Index count, T* to) { std::copy_n(d + k * columns + j, count, to); },
      [&](Index /*batch*/, Index i, Index j, Index count, const T* sums) {
        std::transform(sums, sums + count, out + i * columns + j, [](T sum) { return static_cast<Out>(sum); });
      });
}

template <class T, class Out>
std::unique_ptr<Kernel> recurrent_kernel_gradient(const KernelRequest& request) {
  const Shape& states = request.inputs[0].shape;
  const Index steps = states[1], units = states[2], rows = states[0] * steps, width = request.outputs[0].shape[1];
  const bool initial = request.attributes.get<bool>("initial");
  const std::size_t x = request.inputs.size() - 1;
  const Index features = request.outputs.size() > 1 ? request.outputs[1].shape[0] : 0;
  return make_kernel([=](const KernelArguments& arguments) {
    const auto* const d = arguments.in<T>(1);
    const auto before = [&](Index row, Index unit) {
      if (row % steps > 0) return arguments.in<T>(0)[(row - 1) * units + unit];
      return initial ? arguments.in<T>(2)[row / steps * units + unit] : T{0};
    };
    transposed_product(units, width, rows, before, d, arguments.out<Out>(0));
    if (features == 0) return;
    const auto of_x = [&](Index row, Index feature) { return arguments.in<T>(x)[row * features + feature]; };
    transposed_product(features, width, rows, of_x, d, arguments.out<Out>(1));
  });
}

}  // namespace

std::unique_ptr<Kernel> create_recurrent_kernel_gradient(const KernelRequest& request, std::string& reason) {
  return for_input_and_output(request, reason, [&](auto zero, auto out_zero) {
    return recurrent_kernel_gradient<decltype(zero), decltype(out_zero)>(request);
  });
}

}  // namespace mezzo::reference
