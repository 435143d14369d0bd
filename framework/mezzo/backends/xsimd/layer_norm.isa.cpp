#include <mezzo/backends/xsimd/columns.hpp>
#include <mezzo/backends/xsimd/layer_norm.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

struct Sums {
  double first = 0, second = 0;
};

/// Two sums over [0, count): add(i, part, first, second) adds to them in float over short stretches; the sums of the
/// stretches are added in double.
template <class Add>
[[gnu::always_inline]] inline Sums sums_over(std::int64_t count, const Add& add) {
  constexpr std::int64_t stretch = 4096;
  Sums sums;
  for (std::int64_t start = 0; start < count; start += stretch) {
    const std::int64_t end = count - start < stretch ? count : start + stretch;
    Floats first(0.0F), second(0.0F);
    for_registers(start, end, [&](std::int64_t i, auto part) { add(i, part, first, second); });
    sums.first += static_cast<double>(sum_lanes(first));
    sums.second += static_cast<double>(sum_lanes(second));
  }
  return sums;
}

template <class T>
[[gnu::flatten]] void normalize(const void* x, const float* gamma, const float* beta, void* y, float* mean,
                                float* inverse, double epsilon, std::int64_t rows, std::int64_t columns) {
  const T* p = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  const double share = 1 / static_cast<double>(columns);
  for (std::int64_t row = 0; row < rows; ++row, p += columns, to += columns) {
    // An approximate mean first, then its error: a mean in float32 alone could be too coarse.
    const auto add = [&](std::int64_t i, auto part, Floats& sum, Floats&) { sum += load(p + i, part); };
    const float near = static_cast<float>(share * sums_over(columns, add).first);
    const Floats about(near), zero(0.0F);
    const auto add_about = [&](std::int64_t i, auto part, Floats& sum, Floats& squares) {
      const Floats difference = only(load(p + i, part) - about, zero, part);
      sum += difference;
      squares = multiply_add(difference, difference, squares);
    };
    const Sums sums = sums_over(columns, add_about);
    const double offset = sums.first * share;
    const double variance = sums.second * share - offset * offset;
    const double slope = 1 / __builtin_sqrt((variance < 0 ? 0 : variance) + epsilon);
    mean[row] = static_cast<float>(static_cast<double>(near) + offset);
    inverse[row] = static_cast<float>(slope);
    const Floats scale(inverse[row]), shift(static_cast<float>(offset * slope));
    const auto write = [&](std::int64_t i, auto part) {
      const Floats normalized = multiply_subtract(load(p + i, part) - about, scale, shift);
      store(to + i, multiply_add(normalized, load(gamma + i, part), load(beta + i, part)), part);
    };
    stream(columns, write);
  }
}

/// The gradient of one row. Adds g and g (x - mean) inverse to the sums of the columns.
template <class T>
[[gnu::always_inline]] inline void gradient_of_row(const T* g, const T* x, const float* gamma, float mean,
                                                   float inverse, T* dx, float* dgamma, float* dbeta,
                                                   std::int64_t columns) {
  const Floats m(mean), scale(inverse);
  Floats sum(0.0F), products(0.0F);
  const auto add = [&](std::int64_t i, auto part) {
    const Floats cotangent = load(g + i, part), normalized = (load(x + i, part) - m) * scale;
    const Floats scaled = cotangent * load(gamma + i, part);
    sum += scaled;
    products = multiply_add(scaled, normalized, products);
    store(dgamma + i, multiply_add(cotangent, normalized, load(dgamma + i, part)), part);
    store(dbeta + i, load(dbeta + i, part) + cotangent, part);
  };
  stream(columns, add, g, x);
  const float share = 1 / static_cast<float>(columns);
  const Floats of_all(sum_lanes(sum) * share), of_normalized(sum_lanes(products) * share);
  const auto write = [&](std::int64_t i, auto part) {
    const Floats normalized = (load(x + i, part) - m) * scale;
    const Floats scaled = multiply_subtract(load(g + i, part), load(gamma + i, part), of_all);
    store(dx + i, negative_multiply_add(normalized, of_normalized, scaled) * scale, part);
  };
  stream(columns, write);
}

template <class T>
[[gnu::flatten]] void gradient(const void* g, const void* x, const float* gamma, const float* mean,
                               const float* inverse, void* dx, double* dgamma, double* dbeta, float* partial,
                               std::int64_t rows, std::int64_t columns) {
  float *const to_gamma = partial, *const to_beta = partial + columns;
  for (std::int64_t i = 0; i < columns; ++i) dgamma[i] = dbeta[i] = 0;
  for (std::int64_t first = 0; first < rows; first += piece_rows) {
    const std::int64_t end = rows - first < piece_rows ? rows : first + piece_rows;
    for (std::int64_t i = 0; i < 2 * columns; ++i) partial[i] = 0;
    for (std::int64_t row = first; row < end; ++row) {
      const std::int64_t at = row * columns;
      gradient_of_row(static_cast<const T*>(g) + at, static_cast<const T*>(x) + at, gamma, mean[row], inverse[row],
                      static_cast<T*>(dx) + at, to_gamma, to_beta, columns);
    }
    for (std::int64_t i = 0; i < columns; ++i) {
      dgamma[i] += static_cast<double>(to_gamma[i]);
      dbeta[i] += static_cast<double>(to_beta[i]);
    }
  }
}

}  // namespace

constexpr LayerNormFunctions layer_norm{
    .normalize = {.float32 = normalize<float>, .bfloat16 = normalize<bfloat16>, .float16 = normalize<float16>},
    .gradient = {.float32 = gradient<float>, .bfloat16 = gradient<bfloat16>, .float16 = gradient<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
