#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// @name Linear algebra
/// Functions of matrices, the last two axes of x; all leading axes are batches. Computed in float32 (float64 for
/// float64); integers become floats of the scope's compute dtype. Throws a ShapeError for operands that aren't matrices
/// of the right shape.
/// @{

/// Lower triangular L with L L^T = x for a positive definite x, NaN for another; upper triangular L^T if `upper`. Reads
/// x as (x + x^T) / 2.
MEZZO_API Value cholesky(const Value& x, bool upper = false);

/// Inverse of L L^T, given L, or of U^T U, given U, if `upper`.
MEZZO_API Value cholesky_inverse(const Value& x, bool upper = false);

/// Determinant. Its gradient is NaN or infinite for a singular matrix.
MEZZO_API Value det(const Value& x);

/// Result of slogdet.
struct SignAndLogDet {
  Value sign;    ///< -1, 0 or 1
  Value logdet;  ///< logarithm of the magnitude; -infinity for a singular matrix
};

/// Sign and logarithm of the magnitude of the determinant.
MEZZO_API SignAndLogDet slogdet(const Value& x);

/// Logarithm of the determinant of a positive definite matrix.
MEZZO_API Value logdet(const Value& x);

/// Inverse; infinite or NaN for a singular matrix.
MEZZO_API Value inv(const Value& x);

/// The solution x of a x = b. b is (..., N, K), or (..., N) with one axis less than a.
MEZZO_API Value solve(const Value& a, const Value& b);

/// The same for a triangular a: reads only its upper triangle, or the lower one if `lower`.
MEZZO_API Value solve_triangular(const Value& a, const Value& b, bool lower = false);

/// Least squares solution x of a x = b, of least norm: by singular values, where those up to rcond times the largest
/// count as 0. Default: epsilon of the dtype times the larger size of a.
MEZZO_API Value lstsq(const Value& a, const Value& b, std::optional<double> rcond = std::nullopt);

/// Pseudoinverse (Moore-Penrose), with rcond as in lstsq.
MEZZO_API Value pinv(const Value& x, std::optional<double> rcond = std::nullopt);

/// Result of qr.
struct QR {
  Value q;  ///< orthonormal columns (..., M, K)
  Value r;  ///< upper triangular (..., K, N)
};

/// x = q r, where K is min(M, N), or M for mode "complete". Signs are LAPACK's: the diagonal of r may be negative. The
/// gradient needs M >= N and mode "reduced". Throws a NameError for another mode.
MEZZO_API QR qr(const Value& x, const char* mode = "reduced");

/// Result of eigh.
struct Eigh {
  Value eigenvalues;   ///< (..., N), ascending
  Value eigenvectors;  ///< (..., N, N), one in each column; each may have either sign
};

/// Eigenvalues and eigenvectors of a symmetric matrix, read as (x + x^T) / 2. The gradient of the vectors is infinite
/// for equal eigenvalues.
MEZZO_API Eigh eigh(const Value& x);

/// Result of svd.
struct SVD {
  Value u;  ///< left vectors, in columns: (..., M, M), or (..., M, K) unless full; each may have either sign
  Value s;  ///< singular values (..., K), descending, K = min(M, N)
  Value v;  ///< right vectors, in rows: (..., N, N), or (..., K, N) unless full
};

/// x = u s v. The gradient needs full_matrices = false if u or v is used; that of the vectors is infinite for equal
/// singular values. For Keras' compute_uv = false use only `s`.
MEZZO_API SVD svd(const Value& x, bool full_matrices = true);

/// Number of singular values above `tol`, int64; default: epsilon of the dtype times the larger size of x times the
/// largest singular value.
MEZZO_API Value matrix_rank(const Value& x, std::optional<double> tol = std::nullopt);

/// Product of n factors x; for a negative n, of |n| factors of the inverse.
MEZZO_API Value matrix_power(const Value& x, std::int64_t n);
/// @}

}  // namespace mezzo
