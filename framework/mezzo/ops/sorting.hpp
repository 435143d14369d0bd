#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// @name Order of elements
/// NaN is greater than all numbers. Equal elements keep their order. Indices are int64.
/// @{

/// x in ascending order along `axis`; without an axis, of x as a vector.
MEZZO_API Value sort(const Value& x, std::optional<std::int64_t> axis = -1);

/// Indices that sort x along `axis`; without an axis, of x as a vector.
MEZZO_API Value argsort(const Value& x, std::optional<std::int64_t> axis = -1);

/// Result of top_k.
struct TopK {
  Value values;   ///< the k largest elements of each row, descending
  Value indices;  ///< their indices, int64
};

/// The k largest elements along the last axis; among equal elements, the first ones. They are always sorted, as Keras'
/// `sorted = false` permits. Throws a ValueError unless k is in [1, size of the axis].
MEZZO_API TopK top_k(const Value& x, std::int64_t k);

/// True for each row of `predictions` (batch, classes) with fewer than k scores above that of the target (batch,).
/// False for a target outside of the classes and for a score that is not finite.
MEZZO_API Value in_top_k(const Value& targets, const Value& predictions, std::int64_t k);
/// @}

/// Number of elements of an ascending sequence (one axis) that are less than each of `values`, int64: the places where
/// they can be inserted. With side "right", the number of elements that are not greater. Throws a NameError for another
/// side.
MEZZO_API Value searchsorted(const Value& sorted_sequence, const Value& values, const char* side = "left");

/// Index of the bin of each element of x: bin i holds bins[i - 1] <= x < bins[i], where `bins` ascends (one axis).
MEZZO_API Value digitize(const Value& x, const Value& bins);

/// Options of bincount.
struct BincountOptions {
  Value weights{};             ///< weights of x's shape, which are added instead of counted
  std::int64_t minlength = 0;  ///< least size of the result; while a step is traced, exactly its size
};

/// Number of elements of x (integers, one axis) equal to 0, 1, ...: int32, or the dtype of the weights. While a step is
/// traced, minlength must be given and an element outside [0, minlength) is a ValueError when the step runs.
MEZZO_API Value bincount(const Value& x, const BincountOptions& options = {});

/// Options of histogram.
struct HistogramOptions {
  std::int64_t bins = 10;                            ///< number of bins of equal width
  std::optional<std::pair<double, double>> range{};  ///< range of the bins; default: smallest and largest element
};

/// Result of histogram.
struct Histogram {
  Value counts;  ///< number of elements of each bin, int64; the last bin includes its upper edge
  Value edges;   ///< the bins' edges, one more than bins
};

/// Counts elements in bins of equal width. Elements outside of the range are not counted.
MEZZO_API Histogram histogram(const Value& x, const HistogramOptions& options = {});

}  // namespace mezzo
