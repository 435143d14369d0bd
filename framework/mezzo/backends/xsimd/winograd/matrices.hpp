#pragma once
// The matrices of F(4 x 4, 3 x 3) for the points 0, 3/4, -3/4, 3/2, -3/2 and infinity, for .isa.cpp files. Each
// function multiplies a matrix M by one column; both_sides() computes M x M^T.
//
// The rows of points p and -p differ only in the sign of odd powers; hence `even` and `odd` below. With magnitudes near
// 1 the factors of a tile's corners are of similar size. In float32 the rounding error with these points is half of the
// error with 0, 1, -1, 2 and -2, and twice the error of the sum over the kernel (Barabasz et al., 2020, arXiv
// 1803.10986, on the choice of points).
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

constexpr float near = 0.75F, far = 1.5F;  // magnitudes of the points
constexpr float near_2 = near * near, far_2 = far * far;
/// The polynomial x (x^2 - near_2) (x^2 - far_2) is 0 at the points. `third` is minus its third coefficient; at_0,
/// at_near and at_far are its derivatives at the points, which divide the matrix of the kernel.
constexpr float third = near_2 + far_2;
constexpr float at_0 = near_2 * far_2, at_near = 2 * near_2 * (near_2 - far_2), at_far = 2 * far_2 * (far_2 - near_2);

/// B^T x
struct OfInput {
  static constexpr int in = 6, out = 6;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step], &x3 = x[3 * step], &x4 = x[4 * step], &x5 = x[5 * step];
    const auto pair = [&](float point, float other_2, Floats* to) {
      const Floats even = negative_multiply_add(Floats(other_2), x2, x4);
      const Floats odd = negative_multiply_add(Floats(other_2), x1, x3);
      to[0] = multiply_add(Floats(point), odd, even);
      to[1] = negative_multiply_add(Floats(point), odd, even);
    };
    y[0] = multiply_add(Floats(at_0), x0, negative_multiply_add(Floats(third), x2, x4));
    pair(near, far_2, y + 1);
    pair(far, near_2, y + 3);
    y[5] = multiply_add(Floats(at_0), x1, negative_multiply_add(Floats(third), x3, x5));
  }
};

/// A x
struct OfOutputGradient {
  static constexpr int in = 4, out = 6;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step], &x3 = x[3 * step];
    const auto pair = [&](float point, Floats* to) {
      const Floats even = multiply_add(Floats(point * point), x2, x0);
      const Floats odd = multiply_add(Floats(point * point), x3, x1);
      to[0] = multiply_add(Floats(point), odd, even);
      to[1] = negative_multiply_add(Floats(point), odd, even);
    };
    y[0] = x0;
    pair(near, y + 1);
    pair(far, y + 3);
    y[5] = x3;
  }
};

/// A^T x
struct OfOutput {
  static constexpr int in = 6, out = 4;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step], &x3 = x[3 * step], &x4 = x[4 * step], &x5 = x[5 * step];
    const Floats even = x1 + x2, odd = x1 - x2, far_even = x3 + x4, far_odd = x3 - x4;
    y[0] = x0 + even + far_even;
    y[1] = multiply_add(Floats(far), far_odd, Floats(near) * odd);
    y[2] = multiply_add(Floats(far_2), far_even, Floats(near_2) * even);
    y[3] = multiply_add(Floats(far_2 * far), far_odd, multiply_add(Floats(near_2 * near), odd, x5));
  }
};

/// G x
struct OfKernel {
  static constexpr int in = 3, out = 6;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step];
    const auto pair = [&](float point, float derivative, Floats* to) {
      const Floats even = multiply_add(Floats(point * point), x2, x0) * Floats(1 / derivative);
      to[0] = multiply_add(Floats(point / derivative), x1, even);
      to[1] = negative_multiply_add(Floats(point / derivative), x1, even);
    };
    y[0] = x0 * Floats(1 / at_0);
    pair(near, at_near, y + 1);
    pair(far, at_far, y + 3);
    y[5] = x2;
  }
};

/// G^T x
struct OfKernelGradient {
  static constexpr int in = 6, out = 3;
  [[gnu::always_inline]] static void apply(const Floats* x, Floats* y, int step) {
    const Floats &x0 = x[0], &x1 = x[step], &x2 = x[2 * step], &x3 = x[3 * step], &x4 = x[4 * step], &x5 = x[5 * step];
    const Floats even = (x1 + x2) * Floats(1 / at_near), odd = (x1 - x2) * Floats(near / at_near);
    const Floats far_even = (x3 + x4) * Floats(1 / at_far), far_odd = (x3 - x4) * Floats(far / at_far);
    y[0] = multiply_add(Floats(1 / at_0), x0, even + far_even);
    y[1] = odd + far_odd;
    y[2] = multiply_add(Floats(near_2), even, multiply_add(Floats(far_2), far_even, x5));
  }
};

/// y = M x M^T of a square matrix x, both in row-major order.
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
