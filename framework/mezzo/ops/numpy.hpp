#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>
#include <mezzo/ops/reductions.hpp>

// Further functions of keras.ops: reductions without NaN, sets, correlation, windows, conversions.
namespace mezzo {

/// @name Reductions without NaN
/// NaN elements are left out; options and dtypes as in the functions without "nan" in their name. If there is no other
/// element along the axes, the result is NaN (nanmax, nanmin, nanmean, nanvar, nanstd, nanquantile), 0 (nansum), 1
/// (nanprod). The gradient of a NaN is 0.
/// @{
MEZZO_API Value nansum(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value nanprod(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value nanmax(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value nanmin(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value nanmean(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value nanvar(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value nanstd(const Value& x, const ReduceOptions& options = {});
/// Index of the largest element along `axis`, which is removed; -1 for lines of NaN. Without an axis, of x as a vector.
MEZZO_API Value nanargmax(const Value& x, std::optional<std::int64_t> axis = std::nullopt);
MEZZO_API Value nanargmin(const Value& x, std::optional<std::int64_t> axis = std::nullopt);
MEZZO_API Value nanquantile(const Value& x, double q, const QuantileOptions& options = {});
/// The same for several q, along a new first axis.
MEZZO_API Value nanquantile(const Value& x, const std::vector<double>& q, const QuantileOptions& options = {});
/// nanquantile(x, q / 100)
MEZZO_API Value nanpercentile(const Value& x, double q, const QuantileOptions& options = {});
MEZZO_API Value nanmedian(const Value& x, const ReduceOptions& options = {});
MEZZO_API Value nancumsum(const Value& x, std::optional<std::int64_t> axis = std::nullopt);
MEZZO_API Value nancumprod(const Value& x, std::optional<std::int64_t> axis = std::nullopt);
/// @}

/// Result of moments.
struct Moments {
  Value mean, variance;  ///< of the same shape: that of x without the reduced axes
};
/// mean and var over the axes.
MEZZO_API Moments moments(const Value& x, const ReduceOptions& options = {});

/// @name Sets and positions
/// @{
/// True where an element of x1 is in x2, or, if `invert`, where it is not. NaN is not equal to NaN.
MEZZO_API Value isin(const Value& x1, const Value& x2, bool invert = false);

/// Result of unique.
struct Unique {
  Value values;   ///< ascending
  Value indices;  ///< int64: of the first occurrence in x
  Value inverse;  ///< int64, x's shape: index of each element in `values`
  Value counts;   ///< int64: occurrences
};
/// The elements of x without repetitions. Each NaN counts as an element of its own. The number of results depends on
/// the numbers: throws a ValueError for a symbolic x.
MEZZO_API Unique unique(const Value& x);

/// Indices of the elements that are not 0, int64: one array for each axis. Throws a ValueError for a symbolic x.
MEZZO_API Values nonzero(const Value& x);

/// Coordinates of indices into an array of that shape as a vector: one array for each axis, of the indices' dtype.
/// Negative indices count from the end; those outside of the array have the coordinates of the nearest element, as on
/// JAX.
MEZZO_API Values unravel_index(const Value& indices, const Shape& shape);

/// Indices along `axis` that put the element `kth` of the sorted order at its place, smaller ones before it: those of
/// argsort. Negative kth count from the end. Throws a ValueError for kth outside of the axis. Without an axis: of x as
/// a vector.
MEZZO_API Value argpartition(const Value& x, std::int64_t kth, std::optional<std::int64_t> axis = -1);

/// True if all elements are close, as isclose; shape ().
MEZZO_API Value allclose(const Value& x1, const Value& x2, double rtol = 1e-5, double atol = 1e-8,
                         bool equal_nan = false);

/// Products of rows of data by segment, as segment_sum; 1 for a segment without rows. The gradient is exact for
/// elements that are 0.
MEZZO_API Value segment_prod(const Value& data, const Value& segment_ids,
                             std::optional<std::int64_t> num_segments = std::nullopt);
/// @}

/// @name Pieces
/// array_split into equal pieces, or before the given indices, along axis 1 (0 of a vector), 0 and 2. Throws a
/// ShapeError for pieces that are not equal or too few axes.
/// @{
MEZZO_API Values hsplit(const Value& x, std::int64_t sections);
MEZZO_API Values hsplit(const Value& x, const Shape& indices);
MEZZO_API Values vsplit(const Value& x, std::int64_t sections);
MEZZO_API Values vsplit(const Value& x, const Shape& indices);
MEZZO_API Values dsplit(const Value& x, std::int64_t sections);
MEZZO_API Values dsplit(const Value& x, const Shape& indices);
/// @}

/// @name Correlation and distances
/// @{
/// Sums of products of a vector and another one moved along it, by NumPy's modes "valid", "same" and "full". Throws a
/// NameError for another mode.
MEZZO_API Value correlate(const Value& x1, const Value& x2, const char* mode = "valid");
/// Matrix of the correlation coefficients of the rows of x (rows, observations); 1 for a vector.
MEZZO_API Value corrcoef(const Value& x);
/// Euclidean distances of the rows of x (..., M, D) and of y (..., N, D): (..., M, N). The gradient of a distance of 0
/// is 0.
MEZZO_API Value cdist(const Value& x, const Value& y);
/// Peak signal-to-noise ratio in decibel, of arrays of one shape: 10 log10(max_val^2 / mean squared difference).
MEZZO_API Value psnr(const Value& x1, const Value& x2, double max_val);
/// @}

/// @name Windows
/// @{
/// Options of unfold and fold, for height and width.
struct UnfoldOptions {
  detail::Ints dilation = 1;  ///< distance between the elements of a window
  detail::Ints padding = 0;   ///< zeros on each side
  detail::Ints stride = 1;    ///< distance between windows
};
/// Windows of images (N, C, H, W), channels first as in Keras and torch: (N, C kh kw, positions).
MEZZO_API Value unfold(const Value& x, const detail::Ints& kernel_size, const UnfoldOptions& options = {});
/// Sums the windows of unfold into images (N, C, height, width) of `output_size`.
MEZZO_API Value fold(const Value& x, const detail::Ints& output_size, const detail::Ints& kernel_size,
                     const UnfoldOptions& options = {});
/// Parts of length sequence_length of the last axis, sequence_stride apart: (..., parts, sequence_length).
MEZZO_API Value extract_sequences(const Value& x, std::int64_t sequence_length, std::int64_t sequence_stride);
/// Images (N, H, W, C) with blocks of channels as pixels: (N, H b, W b, C / b^2).
MEZZO_API Value depth_to_space(const Value& x, std::int64_t block_size);
/// The inverse of depth_to_space.
MEZZO_API Value space_to_depth(const Value& x, std::int64_t block_size);
/// @}

/// @name Further functions
/// @{
/// Modified Bessel function of the first kind and order 0.
MEZZO_API Value i0(const Value& x);
/// The next number of the dtype after x1 in the direction of x2. Computed on the host; not differentiable.
MEZZO_API Value nextafter(const Value& x1, const Value& x2);
/// x scaled to a mean square of 1 along `axis`, times `scale`: x / sqrt(mean(x^2) + epsilon).
MEZZO_API Value rms_normalization(const Value& x, const Value& scale = 1.0, std::int64_t axis = -1,
                                  std::optional<double> epsilon = std::nullopt);

/// Result of lu_factor.
struct LU {
  Value lu;      ///< U in the upper triangle with the diagonal, L (with ones on its diagonal) below it
  Value pivots;  ///< int32 (..., N): row i was exchanged with row pivots[i]
};
/// LU factors of square matrices (..., N, N) with the rows exchanged, as LAPACK. Has a gradient. Computed on the host.
MEZZO_API LU lu_factor(const Value& x);

/// Returns x: numbers are real.
inline Value real(const Value& x) { return x; }
inline Value conj(const Value& x) { return x; }
inline Value conjugate(const Value& x) { return x; }
/// Returns true for every element: numbers are real.
MEZZO_API Value isreal(const Value& x);
/// Returns x: Values are never changed, so a copy is not needed.
inline Value copy(const Value& x) { return x; }
/// x as a Value, of another dtype if one is given.
MEZZO_API Value convert_to_tensor(const Value& x, std::optional<DType> dtype = std::nullopt);
/// @}

}  // namespace mezzo
