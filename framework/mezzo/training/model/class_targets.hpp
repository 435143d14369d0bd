#pragma once
#include <cstdint>
#include <map>
#include <string>

#include <mezzo/data/dataset.hpp>
#include <mezzo/training/model/compile_options.hpp>

namespace mezzo::detail {

/// Data with the weights of their classes, for a model that is compiled so. A ValueError that starts with `where` for
/// targets or weights that don't fit each other or the loss.
Dataset class_weighted(const Dataset& data, const std::map<std::int64_t, double>& weights,
                       const CompileOptions& options, const std::string& where);

/// The weights of a step whose batch has both: the weights of the labels if the predictions have an additional axis of
/// classes, else the weights of the scores.
Value chosen_class_weights(const Value& of_labels, const Value& of_scores, const Value& y_true, const Value& y_pred);

}  // namespace mezzo::detail
