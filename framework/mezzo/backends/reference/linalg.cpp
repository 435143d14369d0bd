#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

// Decompositions by Eigen, which allocates memory in each run. A matrix is computed by one thread.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Input = Eigen::Map<const Matrix<T>>;
template <class T>
using Output = Eigen::Map<Matrix<T>>;

/// Batches of matrices of one operand. Of vectors, rows of one column.
struct Batch {
  Index rows = 1, columns = 1;

  Batch() = default;
  explicit Batch(const Shape& shape) : rows(shape[shape.size() - 2]), columns(shape.back()) {}
  Index size() const { return rows * columns; }
};

template <class T>
Input<T> matrix(const KernelArguments& arguments, std::size_t operand, const Batch& batch, Index i) {
  return {arguments.in<T>(operand) + i * batch.size(), batch.rows, batch.columns};
}

template <class T>
Output<T> result(const KernelArguments& arguments, std::size_t output, const Batch& batch, Index i) {
  return {arguments.out<T>(output) + i * batch.size(), batch.rows, batch.columns};
}

/// (x + its transpose) / 2
template <class T>
Matrix<T> symmetric(const Input<T>& x) {
  return (x + x.transpose()) / T{2};
}

/// A kernel that calls body(zero of the element type, arguments, index of the matrix) for each matrix of input 0.
template <class Body>
std::unique_ptr<Kernel> for_matrices(const KernelRequest& request, std::string& reason, const Body& body) {
  const Shape& shape = request.inputs[0].shape;
  const Index count = element_count(Shape(shape.begin(), shape.end() - 2));
  const Index work = shape.back() * shape[shape.size() - 2] * 8;
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    return make_kernel([=](const KernelArguments& arguments) {
      parallel_for(count, grain_of(work), [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) body(zero, arguments, i);
      });
    });
  });
}

/// The determinant's sign, and the logarithm of its magnitude.
template <class T>
void sign_and_log(const Input<T>& x, T& sign, T& logarithm) {
  sign = 1;
  double sum = 0;
  if (x.size() > 0) {
    const Eigen::PartialPivLU<Matrix<T>> lu(x);
    sign = static_cast<T>(lu.permutationP().determinant());
    for (Index i = 0; i < x.rows(); ++i) {
      const T factor = lu.matrixLU()(i, i);
      sign *= factor > 0 ? T{1} : factor < 0 ? T{-1} : factor;  // 0 and NaN stay
      sum += std::log(std::abs(static_cast<double>(factor)));
    }
  }
  logarithm = static_cast<T>(sum);
}

}  // namespace

std::unique_ptr<Kernel> create_cholesky(const KernelRequest& request, std::string& reason) {
  const Batch x(request.inputs[0].shape);
  return for_matrices(request, reason, [x](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    auto out = result<T>(arguments, 0, x, i);
    if (out.size() == 0) return;
    const Eigen::LLT<Matrix<T>> factor(symmetric<T>(matrix<T>(arguments, 0, x, i)));
    if (factor.info() == Eigen::Success) {
      out = factor.matrixL();
    } else {
      out.fill(std::numeric_limits<T>::quiet_NaN());
    }
  });
}

std::unique_ptr<Kernel> create_det(const KernelRequest& request, std::string& reason) {
  const Batch x(request.inputs[0].shape);
  return for_matrices(request, reason, [x](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    const auto input = matrix<T>(arguments, 0, x, i);
    arguments.out<T>(0)[i] = input.size() == 0 ? T{1} : Eigen::PartialPivLU<Matrix<T>>(input).determinant();
  });
}

std::unique_ptr<Kernel> create_slogdet(const KernelRequest& request, std::string& reason) {
  const Batch x(request.inputs[0].shape);
  return for_matrices(request, reason, [x](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    sign_and_log<T>(matrix<T>(arguments, 0, x, i), arguments.out<T>(0)[i], arguments.out<T>(1)[i]);
  });
}

std::unique_ptr<Kernel> create_inv(const KernelRequest& request, std::string& reason) {
  const Batch x(request.inputs[0].shape);
  return for_matrices(request, reason, [x](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    const auto input = matrix<T>(arguments, 0, x, i);
    if (input.size() > 0) result<T>(arguments, 0, x, i) = Eigen::PartialPivLU<Matrix<T>>(input).inverse();
  });
}

std::unique_ptr<Kernel> create_solve(const KernelRequest& request, std::string& reason) {
  const Batch a(request.inputs[0].shape), b(request.inputs[1].shape);
  return for_matrices(request, reason, [a, b](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    if (b.size() == 0) return;
    result<T>(arguments, 0, b, i) =
        Eigen::PartialPivLU<Matrix<T>>(matrix<T>(arguments, 0, a, i)).solve(matrix<T>(arguments, 1, b, i));
  });
}

std::unique_ptr<Kernel> create_solve_triangular(const KernelRequest& request, std::string& reason) {
  const Batch a(request.inputs[0].shape), b(request.inputs[1].shape);
  const bool lower = request.attributes.get<bool>("lower");
  return for_matrices(request, reason, [a, b, lower](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    if (b.size() == 0) return;
    const auto left = matrix<T>(arguments, 0, a, i);
    const auto right = matrix<T>(arguments, 1, b, i);
    auto out = result<T>(arguments, 0, b, i);
    if (lower) {
      out = left.template triangularView<Eigen::Lower>().solve(right);
    } else {
      out = left.template triangularView<Eigen::Upper>().solve(right);
    }
  });
}

std::unique_ptr<Kernel> create_qr(const KernelRequest& request, std::string& reason) {
  const Batch x(request.inputs[0].shape), q(request.outputs[0].shape), r(request.outputs[1].shape);
  return for_matrices(request, reason, [x, q, r](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    auto left = result<T>(arguments, 0, q, i);
    auto right = result<T>(arguments, 1, r, i);
    left.setIdentity();
    if (x.size() == 0) return;
    const Eigen::HouseholderQR<Matrix<T>> factors(matrix<T>(arguments, 0, x, i));
    left = factors.householderQ() * Matrix<T>::Identity(q.rows, q.columns);
    const Matrix<T> upper = factors.matrixQR().template triangularView<Eigen::Upper>();
    right.setZero();
    const Index rows = std::min(upper.rows(), right.rows());
    right.topRows(rows) = upper.topRows(rows);
  });
}

std::unique_ptr<Kernel> create_eigh(const KernelRequest& request, std::string& reason) {
  const Batch x(request.inputs[0].shape);
  return for_matrices(request, reason, [x](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    if (x.size() == 0) return;
    const Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(symmetric<T>(matrix<T>(arguments, 0, x, i)));
    Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(arguments.out<T>(0) + i * x.rows, x.rows) = solver.eigenvalues();
    result<T>(arguments, 1, x, i) = solver.eigenvectors();
  });
}

std::unique_ptr<Kernel> create_svd(const KernelRequest& request, std::string& reason) {
  const Batch x(request.inputs[0].shape), u(request.outputs[1].shape), v(request.outputs[2].shape);
  const bool full = request.attributes.get<bool>("full");
  return for_matrices(request, reason, [x, u, v, full](auto zero, const KernelArguments& arguments, Index i) {
    using T = decltype(zero);
    auto left = result<T>(arguments, 1, u, i);
    auto right = result<T>(arguments, 2, v, i);
    left.setIdentity();
    right.setIdentity();
    if (x.size() == 0) return;
    const unsigned options =
        full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
    // Computed in double: Jacobi rotations of small matrices and divisions of large ones, both to the last digits.
    const Eigen::BDCSVD<Matrix<double>> parts(matrix<T>(arguments, 0, x, i).template cast<double>(), options);
    const Index least = std::min(x.rows, x.columns);
    Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(arguments.out<T>(0) + i * least, least) =
        parts.singularValues().template cast<T>();
    left = parts.matrixU().template cast<T>();
    right = parts.matrixV().transpose().template cast<T>();
  });
}

}  // namespace mezzo::reference
