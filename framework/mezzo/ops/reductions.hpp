#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Options of reductions: sum, mean, max, var, ...
struct ReduceOptions {
  Shape axes{};           ///< axes to reduce; {}: all; negative ones count from the end
  bool keepdims = false;  ///< keeps the reduced axes with size 1
};

/// Sum over axes, accumulated in float32 (float64 for float64) and rounded once to x's dtype. Bools and integers are
/// summed in int64, the dtype of their result. The sum of no elements is 0.
MEZZO_API Value sum(const Value& x, const ReduceOptions& options = {});

/// Sum divided by the number of elements summed; NaN for no elements. Bools and integers are averaged as floats of the
/// scope's compute dtype.
MEZZO_API Value mean(const Value& x, const ReduceOptions& options = {});

/// @name Largest and smallest element
/// In x's dtype; NaN if an element is NaN. Equal elements share the gradient equally. Throws a ShapeError if there are
/// no elements along the axes.
/// @{
MEZZO_API Value max(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value min(const Value& x, const ReduceOptions& options = {});
inline Value amax(const Value& x, const ReduceOptions& options = {}) { return max(x, options); }
inline Value amin(const Value& x, const ReduceOptions& options = {}) { return min(x, options); }
/// max - min
MEZZO_API Value ptp(const Value& x, const ReduceOptions& options = {});
/// @}

/// Product over axes, accumulated in float32 (float64 for float64). Bools and integers are multiplied in int64, the
/// dtype of their result. The product of no elements is 1. The gradient is exact for elements that are 0.
MEZZO_API Value prod(const Value& x, const ReduceOptions& options = {});

/// @name Reductions of truth values
/// Numbers are true unless they are 0; NaN is true. The result is bool. `any` of no elements is false, `all` is true.
/// @{
MEZZO_API Value any(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value all(const Value& x, const ReduceOptions& options = {});
/// Number of elements that are true, int64. `axes` as in ReduceOptions.
MEZZO_API Value count_nonzero(const Value& x, const Shape& axes = {});
/// @}

/// @name Statistics
/// Computed in float32 (float64 for float64) and rounded to x's dtype; bools and integers become floats of the scope's
/// compute dtype. NaN for no elements.
/// @{
/// Mean of the squared distances from the mean.
MEZZO_API Value var(const Value& x, const ReduceOptions& options = {});
/// Square root of var.
MEZZO_API Value std(const Value& x, const ReduceOptions& options = {});
/// log(sum(exp(x))) without overflow; -infinity for no elements.
MEZZO_API Value logsumexp(const Value& x, const ReduceOptions& options = {});

/// Options of average.
struct AverageOptions {
  Shape axes{};     ///< axes to reduce; {}: all
  Value weights{};  ///< weights of x's shape, or of the axis' size if there is one axis; default: the mean
};

/// sum(x weights) / sum(weights). Throws a ShapeError for weights of another shape.
MEZZO_API Value average(const Value& x, const AverageOptions& options = {});

/// Options of median, quantile and percentile.
struct QuantileOptions {
  Shape axes{};                   ///< axes to reduce; {}: all
  std::string method = "linear";  ///< between two elements: "linear", "lower", "higher", "midpoint" or "nearest"
  bool keepdims = false;          ///< keeps the reduced axes with size 1
};

/// The element below which the fraction q of the elements lies; between two elements by `method`. q is in [0, 1]. NaN
/// if an element is NaN. Throws a ShapeError for no elements, a ValueError for q out of range, a NameError for another
/// method.
MEZZO_API Value quantile(const Value& x, double q, const QuantileOptions& options = {});
/// The same for several q, along a new first axis.
MEZZO_API Value quantile(const Value& x, const std::vector<double>& q, const QuantileOptions& options = {});
/// quantile(x, q / 100)
MEZZO_API Value percentile(const Value& x, double q, const QuantileOptions& options = {});
/// quantile(x, 0.5)
MEZZO_API Value median(const Value& x, const ReduceOptions& options = {});
/// @}

/// @name Position of the largest and the smallest element
/// int64, the first one if several are equal; NaN counts as largest and as smallest. Throws a ShapeError for no
/// elements.
/// @{

/// Index along `axis`, which is removed.
MEZZO_API Value argmax(const Value& x, std::int64_t axis = -1);
/// Index along `axis`, which is removed.
MEZZO_API Value argmin(const Value& x, std::int64_t axis = -1);
namespace detail {
/// @}

/// Kind of a norm: a number, "fro" (Frobenius) or "nuc" (sum of singular values).
class MEZZO_API NormOrder {
 public:
  /// The Euclidean norm of all elements along the axes.
  NormOrder() = default;
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  NormOrder(Number order) : number_(static_cast<double>(order)) {}
  NormOrder(const char* name) : name_(name) {}
  NormOrder(std::string name) : name_(std::move(name)) {}

  std::optional<double> number() const { return number_; }
  const std::string& name() const { return name_; }

 private:
  std::optional<double> number_;
  std::string name_;
};
}  // namespace detail

/// Options of norm.
struct NormOptions {
  /// Along one axis: any number p, (sum |x|^p)^(1/p); 0: number of elements other than 0; infinity, -infinity: largest
  /// and smallest magnitude. Along two axes: "fro", "nuc", and as numbers 1, -1 (largest and smallest sum of a column),
  /// infinity, -infinity (of a row), 2, -2 (largest and smallest singular value).
  detail::NormOrder ord{};
  Shape axes{};           ///< axes of a vector or a matrix; {}: all
  bool keepdims = false;  ///< keeps the reduced axes with size 1
};

/// Norm of vectors or matrices, as numpy.linalg.norm, computed as statistics are. Throws a ValueError for another
/// `ord`.
MEZZO_API Value norm(const Value& x, const NormOptions& options = {});

/// x divided by its norm of order `order` along the axis, or by epsilon if the norm is smaller; by default 1e-7, Keras'
/// epsilon. Throws a ValueError for an order below 1.
MEZZO_API Value normalize(const Value& x, std::int64_t axis = -1, double order = 2,
                          std::optional<double> epsilon = std::nullopt);

/// @name Along an axis, element by element
/// Without an axis: of x as a vector.
/// @{

/// Sum of the elements up to each one, accumulated in float32 (float64 for float64). Bools and integers become int64.
MEZZO_API Value cumsum(const Value& x, std::optional<std::int64_t> axis = std::nullopt);
/// Product of the elements up to each one, as cumsum. The gradient is exact for elements that are 0.
MEZZO_API Value cumprod(const Value& x, std::optional<std::int64_t> axis = std::nullopt);
/// Differences of neighbours, n times. Throws a ValueError for a negative n.
MEZZO_API Value diff(const Value& x, std::int64_t n = 1, std::int64_t axis = -1);
/// Integral of y by the trapezoidal rule, for samples `dx` apart.
MEZZO_API Value trapezoid(const Value& y, double dx = 1.0, std::int64_t axis = -1);
/// The same for samples at x: of y's shape, or of the size of the axis.
MEZZO_API Value trapezoid(const Value& y, const Value& x, std::int64_t axis = -1);
/// @}

}  // namespace mezzo
