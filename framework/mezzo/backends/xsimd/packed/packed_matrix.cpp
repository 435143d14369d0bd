#include <mezzo/backends/xsimd/packed/packed_matrix.hpp>

#include <algorithm>
#include <vector>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

template <class T>
void pack_panels(const T* numbers, Index depth, Index columns, bool transposed, Index panel,
                 const PackFunctions<T>& functions, void* to) {
  std::vector<T> turned;
  if (transposed) {
    turned.resize(static_cast<std::size_t>(depth * columns));
    for (Index column = 0; column < columns; ++column) {
      for (Index row = 0; row < depth; ++row) {
        turned[static_cast<std::size_t>(row * columns + column)] = numbers[column * depth + row];
      }
    }
    numbers = turned.data();
  }
  functions.panels({.from = numbers,
                    .width = columns,
                    .rows = depth,
                    .columns = columns,
                    .to = static_cast<T*>(to),
                    .pitch = depth * panel});
}

}  // namespace

PackedMatrix::PackedMatrix(const Tensor& numbers, Index depth, Index columns, bool transposed, Isa isa) {
  const ProductFunctions& products = kernels(isa).products;
  count_ = round_up(columns, products.panel) / products.panel;
  bytes_ = depth * products.panel * size_of(numbers.dtype());
  constexpr Index overrun = 64;  // bytes that packing writes behind the last panel
  const std::string layout =
      fmt::format("panels of {} columns, {} rows{}", products.panel, depth, transposed ? " transposed" : "");
  packed_ = detail::packed_constant(numbers, layout, static_cast<std::size_t>(bytes() + overrun), [&](void* to) {
    if (numbers.dtype() == DType::float32) {
      pack_panels(numbers.data<float>(), depth, columns, transposed, products.panel, products.pack, to);
    } else {
      pack_panels(numbers.data<bfloat16>(), depth, columns, transposed, products.panel, products.pack_pairs, to);
    }
  });
}

std::shared_ptr<const detail::PackedConstant> packed_bias(const Tensor* bias, Index columns, Index panel) {
  const auto floats = static_cast<std::size_t>(round_up(columns, panel));
  static const Tensor none({1});
  const std::string layout = fmt::format("float32 bias of {} numbers", floats);
  return detail::packed_constant(bias == nullptr ? none : *bias, layout, floats * sizeof(float), [&](void* to) {
    auto* const out = static_cast<float*>(to);
    std::fill_n(out, floats, 0.0F);
    if (bias == nullptr) return;
    const Tensor wide = bias->cast(DType::float32);
    std::copy_n(wide.data<float>(), columns, out);
  });
}

}  // namespace mezzo::xsimd_kernels
