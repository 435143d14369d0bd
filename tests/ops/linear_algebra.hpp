#pragma once

#include <cmath>

#include "ops/plain.hpp"

// Rows of decompositions of matrices, by loops of a textbook.
namespace mezzo_tests {

// A square matrix of a batch, row by row.
using Square = std::vector<std::vector<double>>;

inline Square square_at(const mezzo::Tensor& x, std::int64_t i) {
  const auto n = static_cast<std::size_t>(x.shape().back());
  Square out(n, std::vector<double>(n));
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c) out[r][c] = x.data<double>()[(static_cast<std::size_t>(i) * n + r) * n + c];
  }
  return out;
}

// Gauss and Jordan's elimination with pivots: turns b into the solution, returns the determinant of a.
inline double eliminate(Square a, Square& b) {
  double determinant = 1;
  for (std::size_t k = 0; k < a.size(); ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k; r < a.size(); ++r) {
      if (std::abs(a[r][k]) > std::abs(a[pivot][k])) pivot = r;
    }
    if (pivot != k) determinant = -determinant;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    determinant *= a[k][k];
    for (std::size_t r = 0; r < a.size(); ++r) {
      if (r == k) continue;
      const double factor = a[r][k] / a[k][k];
      for (std::size_t c = 0; c < a.size(); ++c) a[r][c] -= factor * a[k][c];
      for (std::size_t c = 0; c < b[r].size(); ++c) b[r][c] -= factor * b[k][c];
    }
  }
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (double& number : b[k]) number /= a[k][k];
  }
  return determinant;
}

inline Square identity_of(std::size_t n) {
  Square out(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) out[i][i] = 1;
  return out;
}

inline Square lower_factor(const Square& x) {
  Square l(x.size(), std::vector<double>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = (x[i][j] + x[j][i]) / 2;
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  }
  return l;
}

// Well-conditioned matrices: random numbers with a large diagonal.
inline mezzo::Tensor matrices(const mezzo::Shape& shape) {
  mezzo::Tensor x = uniform(shape, -1, 1);
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (i / columns % rows == i % columns) x.mutable_data<double>()[i] += 4;
  }
  return x;
}

inline std::int64_t matrix_count(const mezzo::Tensor& x) {
  return mezzo::element_count(mezzo::Shape(x.shape().begin(), x.shape().end() - 2));
}

// Calls function(matrix) for each square matrix of x; the results follow one another in an array of shape `to`.
inline mezzo::Tensor plain_matrices(const mezzo::Tensor& x, const mezzo::Shape& to,
                                    const std::function<Square(const Square&, std::int64_t)>& function) {
  mezzo::Tensor out(to, mezzo::DType::float64);
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < matrix_count(x); ++i) {
    for (const auto& row : function(square_at(x, i), i)) {
      for (const double number : row) out.mutable_data<double>()[next++] = number;
    }
  }
  return out;
}

inline std::vector<OpRow> linear_algebra_rows() {
  using mezzo::Shape;
  std::vector<OpRow> rows;
  for (const Shape& shape : {Shape{4, 4}, Shape{2, 3, 3}, Shape{0, 2, 2}, Shape{3, 0, 0}, Shape{1, 1}}) {
    const Shape batch(shape.begin(), shape.end() - 2);
    const bool empty = mezzo::element_count(shape) == 0;
    // Errors of elimination grow with the number of steps and the condition, which is below 4 here.
    const double depth = 64;
    const auto row = [&](const std::string& op, const std::vector<Argument>& arguments,
                         const mezzo::Attributes& attributes, const std::function<TensorList(const TensorList&)>& plain,
                         std::vector<std::size_t> differentiable) {
      rows.push_back({.op = op,
                      .note = mezzo::to_string(shape),
                      .call = inserted(op, attributes),
                      .arguments = arguments,
                      .outputs = std::vector<Role>(op == "slogdet" ? 2 : 1, Role::varied()),
                      .plain = plain,
                      .differentiable = empty ? std::vector<std::size_t>{} : differentiable,
                      .depth = depth});
    };
    const Argument x{matrices(shape)};
    row("cholesky", {x}, {},
        [shape](const TensorList& v) {
          return TensorList{plain_matrices(v[0], shape, [](const Square& m, std::int64_t) { return lower_factor(m); })};
        },
        {0});
    row("inv", {x}, {},
        [shape](const TensorList& v) {
          return TensorList{plain_matrices(v[0], shape, [](const Square& m, std::int64_t) {
            Square out = identity_of(m.size());
            eliminate(m, out);
            return out;
          })};
        },
        {0});
    const auto determinants = [batch](const TensorList& v, const std::function<double(double)>& f) {
      return plain_matrices(v[0], batch, [&](const Square& m, std::int64_t) {
        Square none = identity_of(m.size());
        return Square{{f(eliminate(m, none))}};
      });
    };
    row("det", {x}, {}, [=](const TensorList& v) { return TensorList{determinants(v, [](double d) { return d; })}; },
        {0});
    row("slogdet", {x}, {},
        [=](const TensorList& v) {
          return TensorList{determinants(v, [](double d) { return d > 0 ? 1 : -1; }),
                            determinants(v, [](double d) { return std::log(std::abs(d)); })};
        },
        {0});  // of the sign: 0
    Shape right = shape;
    right.back() = 2;
    const auto solution = [right](const TensorList& v, bool triangle, bool lower) {
      const auto n = static_cast<std::int64_t>(right[right.size() - 2]);
      return plain_matrices(v[0], right, [&](Square m, std::int64_t i) {
        Square b(m.size(), std::vector<double>(2));
        for (std::size_t r = 0; r < m.size(); ++r) {
          for (std::size_t c = 0; c < 2; ++c) {
            b[r][c] = v[1].data<double>()[(i * n + static_cast<std::int64_t>(r)) * 2 + static_cast<std::int64_t>(c)];
          }
          for (std::size_t c = 0; c < m.size(); ++c) {
            if (triangle && (lower ? c > r : c < r)) m[r][c] = 0;
          }
        }
        eliminate(m, b);
        return b;
      });
    };
    const Argument b{uniform(right, -1, 1, 5)};
    row("solve", {x, b}, {}, [=](const TensorList& v) { return TensorList{solution(v, false, false)}; }, {0, 1});
    for (const bool lower : {false, true}) {
      row("solve_triangular", {x, b}, {{"lower", lower}},
          [=](const TensorList& v) { return TensorList{solution(v, true, lower)}; }, {0, 1});
    }
  }
  // Vectors may have either sign, so that only these have one answer. Others: test_linear_algebra.cpp.
  for (const Shape& shape : {Shape{3, 1, 1}, Shape{0, 2, 2}}) {
    const std::vector<std::size_t> differentiable =
        shape[0] == 0 ? std::vector<std::size_t>{} : std::vector<std::size_t>{0};
    const Shape vector(shape.begin(), shape.end() - 1);
    const auto ones = [](const Shape& to) {
      return map(mezzo::Tensor(to, mezzo::DType::float64), [](double) { return 1; });
    };
    const Argument x{uniform(shape, 0.5, 1)};
    const std::string note = mezzo::to_string(shape);
    rows.push_back({.op = "eigh",
                    .note = note,
                    .call = inserted("eigh"),
                    .arguments = {x},
                    .outputs = {Role::varied(), Role::varied()},
                    .plain =
                        [=](const TensorList& v) {
                          return TensorList{v[0].reshape(vector), ones(shape)};
                        },
                    .differentiable = differentiable});
    rows.push_back({.op = "svd",
                    .note = note,
                    .call = inserted("svd", {{"full", false}}),
                    .arguments = {x},
                    .outputs = {Role::varied(), Role::varied(), Role::varied()},
                    .plain =
                        [=](const TensorList& v) {
                          return TensorList{v[0].reshape(vector), ones(shape), ones(shape)};
                        },
                    .differentiable = differentiable});
    rows.push_back({.op = "qr",
                    .note = note,
                    .call = inserted("qr", {{"complete", false}}),
                    .arguments = {x},
                    .outputs = {Role::varied(), Role::varied()},
                    .plain =
                        [=](const TensorList& v) {
                          return TensorList{ones(shape), v[0]};
                        },
                    .differentiable = differentiable});
  }
  return rows;
}

inline std::vector<Refusal> linear_algebra_refusals() {
  using mezzo::ShapeError;
  using mezzo::Tensor;
  std::vector<Refusal> out;
  for (const std::string op : {"cholesky", "det", "slogdet", "inv", "eigh"}) {
    out.push_back(refusal<ShapeError>(op, "[" + op + "] input 0 must hold square matrices; got shape (2, 3)", [op] {
      inserted(op)({Tensor({2, 3})});
    }));
  }
  out.push_back(refusal<ShapeError>("qr", "[qr] input 0 must have at least 2 axes; got shape (3,)",
                                    [] { mezzo::qr(Tensor({3})); }));
  out.push_back(refusal<ShapeError>("svd", "[svd] input 0 must have at least 2 axes; got shape (3,)",
                                    [] { mezzo::svd(Tensor({3})); }));
  for (const std::string op : {"solve", "solve_triangular"}) {
    out.push_back(refusal<ShapeError>(
        op, "[" + op + "] b must have the shape of a, (2, 2), on all axes except the last; got (3, 1)", [op] {
          op == "solve" ? mezzo::solve(Tensor({2, 2}), Tensor({3, 1}))
                        : mezzo::solve_triangular(Tensor({2, 2}), Tensor({3, 1}));
        }));
  }
  return out;
}

}  // namespace mezzo_tests
