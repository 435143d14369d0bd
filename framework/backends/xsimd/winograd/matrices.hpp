#pragma once
// The matrices of F(4 x 4, 3 x 3) on the points 0, 1, -1, 2, -2 and infinity, for .isa.cpp files. Each function
// multiplies one column; both_sides() makes of it M x M^T.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// B^T x
struct OfInput {
  static constexpr int in = 6, out = 6;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats two(2.0F), four(4.0F), five(5.0F);
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step], &x3 = x[3 * step], &x4 = x[4 * step], &x5 = x[5 * step];
    const Floats a = negative_multiply_add(four, x2, x4), b = negative_multiply_add(four, x1, x3);
    const Floats c = x4 - x2, d = two * (x3 - x1);
    y[0] = multiply_add(four, x0, negative_multiply_add(five, x2, x4));
    y[1] = a + b;
    y[2] = a - b;
    y[3] = c + d;
    y[4] = c - d;
    y[5] = multiply_add(four, x1, negative_multiply_add(five, x3, x5));
  }
};

/// A x
struct OfOutputGradient {
  static constexpr int in = 4, out = 6;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats four(4.0F);
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step], &x3 = x[3 * step];
    const Floats even = x0 + x2, odd = x1 + x3;
    const Floats even_2 = multiply_add(four, x2, x0), odd_2 = multiply_add(four, x3, x1) * Floats(2.0F);
    y[0] = x0;
    y[1] = even + odd;
    y[2] = even - odd;
    y[3] = even_2 + odd_2;
    y[4] = even_2 - odd_2;
    y[5] = x3;
  }
};

/// A^T x
struct OfOutput {
  static constexpr int in = 6, out = 4;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step], &x3 = x[3 * step], &x4 = x[4 * step], &x5 = x[5 * step];
    const Floats sum_1 = x1 + x2, difference_1 = x1 - x2, sum_2 = x3 + x4, difference_2 = x3 - x4;
    y[0] = x0 + sum_1 + sum_2;
    y[1] = multiply_add(Floats(2.0F), difference_2, difference_1);
    y[2] = multiply_add(Floats(4.0F), sum_2, sum_1);
    y[3] = multiply_add(Floats(8.0F), difference_2, difference_1) + x5;
  }
};

/// G x
struct OfKernel {
  static constexpr int in = 3, out = 6;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step];
    const Floats even = (x0 + x2) * Floats(-1.0F / 6), odd = x1 * Floats(1.0F / 6);
    const Floats even_2 = multiply_add(Floats(4.0F), x2, x0) * Floats(1.0F / 24), odd_2 = x1 * Floats(1.0F / 12);
    y[0] = x0 * Floats(0.25F);
    y[1] = even - odd;
    y[2] = even + odd;
    y[3] = even_2 + odd_2;
    y[4] = even_2 - odd_2;
    y[5] = x2;
  }
};

/// G^T x
struct OfKernelGradient {
  static constexpr int in = 6, out = 3;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step], &x3 = x[3 * step], &x4 = x[4 * step], &x5 = x[5 * step];
    const Floats sixth(1.0F / 6);
    const Floats sum_1 = (x1 + x2) * sixth, difference_1 = (x2 - x1) * sixth;
    const Floats sum_2 = x3 + x4, difference_2 = x3 - x4;
    y[0] = multiply_add(Floats(0.25F), x0, multiply_add(Floats(1.0F / 24), sum_2, -sum_1));
    y[1] = multiply_add(Floats(1.0F / 12), difference_2, difference_1);
    y[2] = multiply_add(sixth, sum_2, x5 - sum_1);
  }
};

/// y = M x M^T of a square x, by rows.
template <class M>
[[gnu::always_inline]] inline void both_sides(const Floats (&x)[M::in * M::in], Floats (&y)[M::out * M::out]) {
  Floats half[M::out * M::in], column[M::out];
  for (int j = 0; j < M::in; ++j) {
    M::apply(x + j, column, M::in);
    for (int i = 0; i < M::out; ++i) half[i * M::in + j] = column[i];
  }
  for (int i = 0; i < M::out; ++i) M::apply(half + i * M::in, y + i * M::out, 1);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
