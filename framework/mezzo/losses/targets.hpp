#pragma once
#include <string>

#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Targets and predictions that losses and metrics can compute with: neither is rounded by a policy any more.
struct Targets {
  Value y_true;
  Value y_pred;
};

/// Both in one shape and in the predictions' dtype, or float32 if that is lower. A last axis of size 1 that only one
/// of them has is dropped, as in Keras. A ShapeError that starts with `[name]` otherwise: nothing is broadcast. A
/// DTypeError if predictions are integers, as when the arguments were swapped.
Targets same_shape_targets(const std::string& name, const Value& y_true, const Value& y_pred);

/// Integer labels for predictions whose last axis is the classes; a last axis of size 1 of the labels is dropped. A
/// ShapeError or a DTypeError that starts with `[name]` otherwise.
Targets class_labels(const std::string& name, const Value& y_true, const Value& y_pred);

/// One number per sample: the mean over all axes but the first.
Value per_sample(const Value& x);

}  // namespace mezzo
