#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/model/compile_options.hpp>

namespace mezzo {

/// Options of Model::compile() from JSON, as a configuration file has them:
///
///     {"optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.01}}, "loss": "mse", "metrics": ["mae"]}
///
/// Members are `optimizer`, `loss`, `loss_weights`, `metrics` and `weighted_metrics`; a missing one keeps its default.
/// Objects of mezzo's classes are a name or `class_name` with `config`. `loss` and `loss_weights` are one value for all
/// outputs, a list, or `{"by_name": [["price", "mse"]]}`. A NameError for an unknown member, class or name, a
/// ValueError for a value of another type.
MEZZO_API CompileOptions compile_options_from_json(const std::string& text);

/// The same members with all options of their classes, which compile_options_from_json() reads. A ValueError for a
/// function or class of the program, for a choice of exclude_from_weight_decay(), and for a loss_scale.
MEZZO_API std::string compile_options_to_json(const CompileOptions& options);

}  // namespace mezzo
