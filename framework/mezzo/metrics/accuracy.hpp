#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Accuracy of the kind that fits the shapes, as Keras' "accuracy": binary_accuracy if y_pred is one number per sample,
/// sparse_categorical_accuracy if y_true has one axis less than y_pred or a last axis of size 1, else
/// categorical_accuracy. Returns 1 for each right prediction, else 0, float32.
MEZZO_API Value accuracy(const Value& y_true, const Value& y_pred);

}  // namespace mezzo
