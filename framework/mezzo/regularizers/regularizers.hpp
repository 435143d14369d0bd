#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/regularizer.hpp>

namespace mezzo {

struct L1L2Options {
  double l1 = 0;  ///< factor of the sum of absolute values, at least 0
  double l2 = 0;  ///< factor of the sum of squares, at least 0
};

/// l1 sum(|x|) + l2 sum(x^2). The name "l1_l2" stands for 0.01 each.
class MEZZO_API L1L2 : public Regularizer {
 public:
  /// A ValueError for a factor that is negative or not finite.
  explicit L1L2(L1L2Options options = {});
  L1L2(double l1, double l2) : L1L2(L1L2Options{l1, l2}) {}
  Value call(const Value& x) const override;

  /// Returns the options given to the constructor.
  const L1L2Options& options() const { return options_; }

 private:
  L1L2Options options_;
};

/// l1 sum(|x|).
class MEZZO_API L1 : public L1L2 {
 public:
  explicit L1(double l1 = 0.01) : L1L2(l1, 0) {}  ///< l1: factor, at least 0
};

/// l2 sum(x^2).
class MEZZO_API L2 : public L1L2 {
 public:
  explicit L2(double l2 = 0.01) : L1L2(0, l2) {}  ///< l2: factor, at least 0
};

struct OrthogonalRegularizerOptions {
  double factor = 0.01;       ///< factor of the penalty, at least 0
  std::string mode = "rows";  ///< "rows" or "columns": the vectors that should be orthogonal
};

/// `factor` times the mean of the absolute dot products of all pairs of rows (or columns) of a matrix, each normalized
/// to length 1.
class MEZZO_API OrthogonalRegularizer : public Regularizer {
 public:
  /// A ValueError for a factor that is negative or not finite, a NameError for an unknown mode.
  explicit OrthogonalRegularizer(OrthogonalRegularizerOptions options = {});
  explicit OrthogonalRegularizer(double factor, std::string mode = "rows")
      : OrthogonalRegularizer(OrthogonalRegularizerOptions{factor, std::move(mode)}) {}

  /// A ShapeError unless x is a matrix.
  Value call(const Value& x) const override;

  /// Returns the options given to the constructor.
  const OrthogonalRegularizerOptions& options() const { return options_; }

 private:
  OrthogonalRegularizerOptions options_;
};

namespace regularizers {
using l1 = L1;
using l2 = L2;
using l1_l2 = L1L2;
using orthogonal_regularizer = OrthogonalRegularizer;
}  // namespace regularizers

}  // namespace mezzo
