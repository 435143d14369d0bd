#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/custom_gradient.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/linalg.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/products.hpp>

// LU factors, on the host.
namespace mezzo {
namespace {

struct Factors {
  std::vector<double> lu;
  std::vector<std::int32_t> pivots;
};

/// LU factors of n x n matrices by rows with partial pivoting.
Factors factorize(const Tensor& matrices) {
  const std::int64_t n = matrices.shape().back();
  Factors out{matrices.to_doubles(), {}};
  const std::int64_t count = n == 0 ? 0 : matrices.size() / (n * n);
  for (std::int64_t m = 0; m < count; ++m) {
    double* const a = out.lu.data() + m * n * n;
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t pivot = k;
      for (std::int64_t i = k + 1; i < n; ++i) {
        if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
      }
      out.pivots.push_back(static_cast<std::int32_t>(pivot));
      if (pivot != k) std::swap_ranges(a + k * n, a + k * n + n, a + pivot * n);
      for (std::int64_t i = k + 1; i < n && a[k * n + k] != 0; ++i) {
        const double factor = a[i * n + k] /= a[k * n + k];
        for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      }
    }
  }
  return out;
}

/// Matrices (..., N, N) that put the rows in the order of the pivots.
Tensor permutations(const Tensor& pivots, DType dtype) {
  Shape shape = pivots.shape();
  const std::int64_t n = shape.back();
  shape.push_back(n);
  Tensor out(shape, DType::float64);
  double* const p = out.mutable_data<double>();
  for (std::int64_t m = 0; n > 0 && m < pivots.size() / n; ++m) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < n; ++i) rows.push_back(i);
    for (std::int64_t i = 0; i < n; ++i) {
      std::swap(rows[static_cast<std::size_t>(i)],
                rows[static_cast<std::size_t>(pivots.data<std::int32_t>()[m * n + i])]);
    }
    for (std::int64_t i = 0; i < n; ++i) p[(m * n + i) * n + rows[static_cast<std::size_t>(i)]] = 1;
  }
  return out.cast(dtype);
}

/// The cotangent of a matrix from that of its packed factors: P^T L^-T (tril(L^T dL, -1) + triu(dU U^T)) U^-T.
Value lu_gradient(const Value& lu, const Value& order, const Value& g) {
  const std::int64_t n = lu.shape().back();
  const Value unit = eye(n, std::nullopt, 0, lu.dtype());
  const Value lower = tril(lu, -1) + unit, upper = triu(lu);
  const Value of_lower = tril(matmul(swapaxes(lower, -1, -2), tril(g, -1)), -1);
  const Value of_upper = triu(matmul(triu(g), swapaxes(upper, -1, -2)));
  const Value left = solve_triangular(swapaxes(lower, -1, -2), of_lower + of_upper);
  const Value right = solve_triangular(upper, swapaxes(left, -1, -2));  // (x U^-T)^T = U^-1 x^T
  return matmul(swapaxes(order, -1, -2), swapaxes(right, -1, -2));
}

}  // namespace

LU lu_factor(const Value& x) {
  const std::string label = detail::current_label("lu_factor");
  const Shape& shape = x.shape();
  if (shape.size() < 2 || shape[shape.size() - 1] != shape[shape.size() - 2]) {
    fail<ShapeError>(label, "x must be square matrices (..., N, N); got shape {}", shape);
  }
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Shape lines(shape.begin(), shape.end() - 1);
  HostOptions whole_numbers;
  whole_numbers.shape = lines;
  whole_numbers.dtype = DType::int32;
  const Value pivots =
      host([lines](const Tensor& a) { return Tensor(lines, factorize(a).pivots); }, stop_gradient(wide), whole_numbers);
  const auto factors = custom_gradient([](const Values& xs) {
    const DType dtype = xs[0].dtype();
    const Value lu =
        host([dtype](const Tensor& a) { return Tensor(a.shape(), factorize(a).lu).cast(dtype); }, stop_gradient(xs[0]));
    HostOptions square;
    square.shape = xs[0].shape();
    square.dtype = dtype;
    const Value order = host([dtype](const Tensor& p) { return permutations(p, dtype); }, xs[1], square);
    return CustomGradientResult{lu, [lu, order](const Value& upstream) {
                                  return Values{lu_gradient(stop_gradient(lu), order, upstream), Value()};
                                }};
  });
  return {detail::as(factors({wide, pivots}), narrow), pivots};
}

}  // namespace mezzo
