#pragma once
#include <mezzo/data/dataset.hpp>
#include <mezzo/training/model/compile_options.hpp>

namespace mezzo::detail {

/// Meaning of several numbers of a target: labels if the loss accepts labels only, otherwise labels or scores.
ClassTargets class_targets(const CompileOptions& options);

/// The weights of a step whose batch has both: the weights of the labels if the predictions have an additional axis of
/// classes, else the weights of the scores.
Value chosen_class_weights(const Value& of_labels, const Value& of_scores, const Value& y_true, const Value& y_pred);

}  // namespace mezzo::detail
