#pragma once
#include <cstdint>
#include <string>

#include <mezzo/losses/targets.hpp>
#include <mezzo/ops/ops.hpp>

// Functions of losses and metrics that are composed of ops. All are called inside a LibraryScope.
namespace mezzo::detail {

/// Small number that keeps logarithms and quotients finite, as in Keras.
constexpr double epsilon = 1e-7;

/// Axis as a number from 0 on. A ShapeError that starts with `[name]` if x doesn't have it.
inline std::int64_t normalized_axis(const std::string& name, const Value& x, std::int64_t axis) {
  return normalize_axis(axis, x.shape().size(), "[" + name + "]");
}

/// x to the power of a constant, for x >= 0. The gradient at 0 is 0.
Value powered(const Value& x, double exponent);

/// Square root of x >= 0. The gradient at 0 is 0.
inline Value root(const Value& x) { return powered(x, 0.5); }

/// Sum and mean over one axis.
inline Value sum_over(const Value& x, std::int64_t axis, bool keepdims = false) {
  return sum(x, {.axes = {axis}, .keepdims = keepdims});
}
inline Value mean_over(const Value& x, std::int64_t axis) { return mean(x, {.axes = {axis}}); }

/// Mean over the last axis of values with a batch axis and others: one number per sample, or per element of a sample.
inline Value mean_last(const Value& x) { return x.shape().size() < 2 ? x : mean_over(x, -1); }

/// x divided by its Euclidean norm along the axis; or by 1e-7 if that is larger.
Value unit(const Value& x, std::int64_t axis);

/// Labels of 0 and 1 as -1 and 1; others unchanged.
Value signed_labels(const Value& y_true);

}  // namespace mezzo::detail
