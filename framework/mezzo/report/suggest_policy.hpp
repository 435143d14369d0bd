#pragma once
#include <string>
#include <vector>

#include <mezzo/precision/policy_map.hpp>
#include <mezzo/report/precision_report.hpp>

namespace mezzo {

struct SuggestPolicyOptions {
  /// Of the predictions and of the gradients of all weights against float32, as PrecisionReport's; greater than 0.
  double max_error = 0.05;
  Precision precision = "mixed_bfloat16";  ///< of the layers that bear it: one policy, neither a map nor op lists
  int steps = 3;                           ///< timed training steps, means of which are told; 0: no times
  double loss_scale = 65536;               ///< to begin with, where gradients are computed in float16
};

/// A policy for each layer, and what it was measured to do. Times are microseconds a training step takes, 0 where not
/// measured.
struct PolicySuggestion {
  PolicyMap map{PolicyMapOptions{}};   ///< for `Trainer({.precision = suggestion.map})`
  std::vector<std::string> float32{};  ///< paths of layers that it keeps in float32, the worst first; "": the model
                                       ///< itself, outside of its layers
  std::vector<std::string> lowered{};  ///< those that compute under options.precision
  double max_error = 0;                ///< as it was asked for
  double output_error = 0;             ///< of the model under the map
  double gradient_error = 0;
  std::string precision{};  ///< options.precision, and its errors where all layers have it:
  double lowest_output_error = 0;
  double lowest_gradient_error = 0;
  double time = 0;          ///< under the map
  double lowest_time = 0;   ///< with all layers under options.precision
  double float32_time = 0;  ///< with none

  /// A line for each of the three: errors, time; and the layers that are kept.
  std::string text() const;
};

namespace detail {
PolicySuggestion suggest_policy(Module& copy, const HostBatch& batch, const SuggestPolicyOptions& options);
}

/// The map under which a model's errors on a batch stay within a bound with as many layers lowered as possible. Layers
/// are ranked by what each does to the model alone (LayerPrecision::effect); the worst are kept in float32, as few of
/// them as meet the bound, and the map that comes out is measured as a whole. Costs a step for each layer. The model
/// stays as it is. A ValueError if the bound can't be met, as layers have a low dtype of their own; else as
/// precision_report().
///
///     const PolicySuggestion suggestion = suggest_policy(model, loader, {.max_error = 0.02});
///     Trainer({.max_epochs = 5, .precision = suggestion.map}).fit(model, loader);
template <class M>
PolicySuggestion suggest_policy(const M& model, const ReportBatch& batch, const SuggestPolicyOptions& options = {}) {
  M copy = detail::copy_for_report(model, "suggest_policy");
  return detail::suggest_policy(copy, batch.batch(), options);
}

}  // namespace mezzo
