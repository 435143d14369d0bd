#include <mezzo/backends/xsimd/relu_bias_gradient.hpp>

#include <mezzo/backends/xsimd/columns.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::flatten]] void mask_and_sum(const void* y, const void* g, void* out, std::int64_t rows, std::int64_t columns,
                                   double* sums) {
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = 0;
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const std::int64_t first = row * columns + column;
    const T* p = static_cast<const T*>(y) + first;
    const T* q = static_cast<const T*>(g) + first;
    T* to = static_cast<T*>(out) + first;
    Floats gradients[width], sum[width];
    for (int k = 0; k < width; ++k) sum[k] = Floats(0.0F);
    for (std::int64_t i = 0; i < count; ++i, p += columns, q += columns, to += columns) {
      prefetch_columns(p + piece_rows * columns, width);
      prefetch_columns(q + piece_rows * columns, width);
      load_gradients<true>(q, p, gradients, part);
      for (int k = 0; k < width; ++k) {
        store(to + k * lanes, gradients[k], part);
        sum[k] += gradients[k];
      }
    }
    for (int k = 0; k < width; ++k) add_to(sums + column + k * lanes, sum[k], part);
  });
}

}  // namespace

constexpr ReluBiasGradientFunctions relu_bias_gradient{
    .mask_and_sum = {.float32 = mask_and_sum<float>,
                     .bfloat16 = mask_and_sum<bfloat16>,
                     .float16 = mask_and_sum<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
