#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/as_seen.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

// Decompositions by Eigen, computed in double and rounded once. Eigen allocates memory in each run. A matrix is
// computed by one thread.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;
using Matrix = Eigen::MatrixXd;
using Matrices = std::vector<Matrix>;

/// Results of a decomposition of the operands' matrices.
using Decompose = Matrices (*)(const Matrices& operands, const Attributes& attributes);

/// The part of an operand that belongs to one matrix of the batch: a matrix, a vector or a number.
struct Part {
  Index rows = 1, columns = 1;

  Part(const Shape& shape, std::size_t leading) {
    if (shape.size() > leading) rows = shape[leading];
    if (shape.size() > leading + 1) columns = shape[leading + 1];
  }
};

template <class T>
Matrix load(const T* from, const Part& part) {
  Matrix out(part.rows, part.columns);
  for (Index i = 0; i < part.rows; ++i) {
    for (Index j = 0; j < part.columns; ++j) out(i, j) = static_cast<double>(*from++);
  }
  return out;
}

template <class T>
void store(const Matrix& from, const Part& part, T* to) {
  for (Index i = 0; i < part.rows; ++i) {
    for (Index j = 0; j < part.columns; ++j) *to++ = static_cast<T>(from(i, j));
  }
}

std::unique_ptr<Kernel> for_matrices(const KernelRequest& request, std::string& reason, Decompose decompose) {
  const std::size_t leading = request.inputs[0].shape.size() - 2;
  std::vector<Part> in, out;
  for (const Spec& spec : request.inputs) in.emplace_back(spec.shape, leading);
  for (const Spec& spec : request.outputs) out.emplace_back(spec.shape, leading);
  const Shape& shape = request.inputs[0].shape;
  const Index count = element_count(Shape(shape.begin(), shape.end() - 2));
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return make_kernel([=, attributes = request.attributes](const KernelArguments& arguments) {
      const Index work = in[0].rows * in[0].columns * 8;
      parallel_for(count, grain_of(work), [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          Matrices operands;
          for (std::size_t k = 0; k < in.size(); ++k) {
            operands.push_back(load(arguments.in<T>(k) + i * in[k].rows * in[k].columns, in[k]));
          }
          const Matrices results = decompose(operands, attributes);
          for (std::size_t k = 0; k < out.size(); ++k) {
            store(results[k], out[k], arguments.out<T>(k) + i * out[k].rows * out[k].columns);
          }
        }
      });
    });
  });
}

Matrix symmetric(const Matrix& x) { return (x + x.transpose()) / 2; }

Matrix number(double x) { return Matrix::Constant(1, 1, x); }

/// Decomposition with pivots of a matrix with elements.
Eigen::PartialPivLU<Matrix> pivoted(const Matrix& x) { return Eigen::PartialPivLU<Matrix>(x); }

Matrices cholesky(const Matrices& x, const Attributes&) {
  if (x[0].size() == 0) return x;
  const Eigen::LLT<Matrix> factor(symmetric(x[0]));
  if (factor.info() == Eigen::Success) return {factor.matrixL()};
  return {Matrix::Constant(x[0].rows(), x[0].cols(), std::numeric_limits<double>::quiet_NaN())};
}

Matrices det(const Matrices& x, const Attributes&) {
  return {number(x[0].size() == 0 ? 1 : pivoted(x[0]).determinant())};
}

Matrices slogdet(const Matrices& x, const Attributes&) {
  double sign = 1, logarithm = 0;
  if (x[0].size() > 0) {
    const auto lu = pivoted(x[0]);
    sign = static_cast<double>(lu.permutationP().determinant());
    for (Index i = 0; i < x[0].rows(); ++i) {
      const double factor = lu.matrixLU()(i, i);
      sign *= factor > 0 ? 1 : factor < 0 ? -1 : factor;  // 0 and NaN stay
      logarithm += std::log(std::abs(as_seen(factor)));
    }
  }
  return {number(sign), number(logarithm)};
}

Matrices inv(const Matrices& x, const Attributes&) {
  if (x[0].size() == 0) return x;
  return {pivoted(x[0]).inverse()};
}

Matrices solve(const Matrices& x, const Attributes&) {
  if (x[1].size() == 0) return {x[1]};
  return {pivoted(x[0]).solve(x[1])};
}

Matrices solve_triangular(const Matrices& x, const Attributes& attributes) {
  if (x[1].size() == 0) return {x[1]};
  if (attributes.get<bool>("lower")) return {x[0].triangularView<Eigen::Lower>().solve(x[1])};
  return {x[0].triangularView<Eigen::Upper>().solve(x[1])};
}

Matrices qr(const Matrices& x, const Attributes& attributes) {
  const Index rows = x[0].rows(), columns = x[0].cols();
  const Index inner = attributes.get<bool>("complete") ? rows : std::min(rows, columns);
  Matrix q = Matrix::Identity(rows, inner), r = Matrix::Zero(inner, columns);
  if (x[0].size() > 0) {
    const Eigen::HouseholderQR<Matrix> factors(x[0]);
    q = factors.householderQ() * Matrix::Identity(rows, inner);
    r = factors.matrixQR().topRows(inner).triangularView<Eigen::Upper>();
  }
  return {q, r};
}

Matrices eigh(const Matrices& x, const Attributes&) {
  if (x[0].size() == 0) return {Matrix(0, 1), x[0]};
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(symmetric(x[0]));
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Matrices svd(const Matrices& x, const Attributes& attributes) {
  const bool full = attributes.get<bool>("full");
  const Index rows = x[0].rows(), columns = x[0].cols(), least = std::min(rows, columns);
  if (least == 0) {
    return {Matrix(0, 1), Matrix::Identity(rows, full ? rows : 0), Matrix::Identity(full ? columns : 0, columns)};
  }
  const unsigned vectors = full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Eigen::BDCSVD<Matrix> parts(x[0], vectors);
  return {parts.singularValues(), parts.matrixU(), parts.matrixV().transpose()};
}

}  // namespace

std::unique_ptr<Kernel> create_cholesky(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, cholesky);
}

std::unique_ptr<Kernel> create_det(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, det);
}

std::unique_ptr<Kernel> create_slogdet(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, slogdet);
}

std::unique_ptr<Kernel> create_inv(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, inv);
}

std::unique_ptr<Kernel> create_solve(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, solve);
}

std::unique_ptr<Kernel> create_solve_triangular(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, solve_triangular);
}

std::unique_ptr<Kernel> create_qr(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, qr);
}

std::unique_ptr<Kernel> create_eigh(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, eigh);
}

std::unique_ptr<Kernel> create_svd(const KernelRequest& request, std::string& reason) {
  return for_matrices(request, reason, svd);
}

}  // namespace mezzo::reference
