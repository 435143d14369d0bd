#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// The accuracy that fits the shapes, as Keras picks for "accuracy": binary_accuracy if y_pred is one number per
/// sample, sparse_categorical_accuracy if y_true has an axis less or a last one of size 1, else categorical_accuracy.
Value accuracy(const Value& y_true, const Value& y_pred);

}  // namespace mezzo
