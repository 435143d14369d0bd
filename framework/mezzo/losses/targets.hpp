#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

namespace detail {
/// Targets and predictions, ready for the ops of a loss or metric: a policy does not cast them again.
struct Targets {
  Value y_true;
  Value y_pred;
};

/// Returns y_true and y_pred with equal shapes, in the wider of y_pred's dtype and float32. A last axis of size 1 that
/// only one of them has is dropped, as in Keras; nothing else is broadcast. Errors start with `[name]`: a ShapeError
/// for other shapes, a DTypeError if y_pred holds integers (swapped arguments).
MEZZO_API Targets same_shape_targets(const std::string& name, const Value& y_true, const Value& y_pred);

/// Returns integer labels y_true (...) and scores y_pred (..., classes). A last axis of size 1 of the labels is
/// dropped. Errors start with `[name]`: a ShapeError for other shapes, a DTypeError unless y_true is integer and y_pred
/// floating.
MEZZO_API Targets class_labels(const std::string& name, const Value& y_true, const Value& y_pred);

/// Mean over all axes but the first: one number per sample.
MEZZO_API Value per_sample(const Value& x);
}  // namespace detail

}  // namespace mezzo
