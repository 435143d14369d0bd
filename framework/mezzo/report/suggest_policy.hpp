#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/precision/policy_map.hpp>
#include <mezzo/report/precision_report.hpp>

namespace mezzo {

/// Options of suggest_policy().
struct SuggestPolicyOptions {
  double max_error = 0.05;  ///< bound of PrecisionReport's output_error and gradient_error; greater than 0
  Precision precision = "mixed_bfloat16";  ///< policy of the lowered layers: one that is neither a map nor op lists
  /// Timed training steps of each policy, whose median is reported. They are timed in up to five rounds in which the
  /// policies take turns, with two untimed steps each. 0: no times.
  int steps = 5;
  double loss_scale = 65536;  ///< first loss scale to try, if gradients are computed in float16
};

/// Result of suggest_policy(): a policy for each layer, with measurements. Times are microseconds per training step; 0:
/// not measured, or not agreed on by the rounds of the measurement.
struct MEZZO_API PolicySuggestion {
  PolicyMap map{PolicyMapOptions{}};   ///< map for `Trainer({.precision = suggestion.map})`
  std::vector<std::string> float32{};  ///< paths of the layers kept in float32, the worst first; "": ops of the model
                                       ///< outside of its layers
  /// The same in the dtypes of options.precision without its products of int8, which take the place of float32 if the
  /// bound holds with them.
  std::vector<std::string> without_int8{};
  std::vector<std::string> lowered{};  ///< paths of the layers that compute under options.precision
  double max_error = 0;                ///< options.max_error
  double output_error = 0;             ///< error of the model under the map
  double gradient_error = 0;           ///< error of the model under the map
  std::string precision{};             ///< options.precision
  double lowest_output_error = 0;      ///< with all layers under options.precision
  double lowest_gradient_error = 0;    ///< with all layers under options.precision
  double time = 0;                     ///< under the map
  double lowest_time = 0;              ///< with all layers under options.precision
  double float32_time = 0;             ///< with all layers in float32

  /// Table of errors and times in float32, under the map and under options.precision; then the layers kept in float32.
  std::string text() const;
};

namespace detail {
/// Searches on a copy of the model, which is changed.
MEZZO_API PolicySuggestion suggest_policy(Module& copy, const HostBatch& batch, const SuggestPolicyOptions& options);
}  // namespace detail

/// Finds the policy map that lowers as many layers as possible while the model's errors on a batch stay within a bound.
/// Layers are ranked by LayerPrecision::effect. The fewest worst layers for which the bound holds stay in float32; the
/// errors of the resulting map are measured. Costs one step per layer. The model doesn't change. A ValueError if the
/// bound can't be met because layers have a low dtype of their own; other errors are those of precision_report().
///
///     const PolicySuggestion suggestion = suggest_policy(model, loader, {.max_error = 0.02});
///     Trainer({.max_epochs = 5, .precision = suggestion.map}).fit(model, loader);
template <class M>
PolicySuggestion suggest_policy(const M& model, const detail::ReportBatch& batch,
                                const SuggestPolicyOptions& options = {}) {
  M copy = detail::copy_for_report(model, "suggest_policy");
  return detail::suggest_policy(copy, batch.batch(), options);
}

}  // namespace mezzo
