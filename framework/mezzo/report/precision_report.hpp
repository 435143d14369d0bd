#pragma once
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/report/display/mime_bundle.hpp>
#include <mezzo/report/report_batch.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo {

/// Options of precision_report().
struct PrecisionReportOptions {
  Precision precision{};  ///< as for a Trainer, but neither "auto" nor "auto-int8"; not given: the model's own policies
  bool by_layer = true;   ///< measures the effect of each layer, at the cost of one step per layer
  /// Timed training steps of each policy, whose median is reported. They are timed in up to five rounds in which the
  /// policies take turns, with two untimed steps each. 0: no times.
  int steps = 5;
  double loss_scale = 65536;  ///< first loss scale to try, if gradients are computed in float16
};

/// Range of the numbers of some tensors, and the shares of them that a dtype can't represent.
struct ValueRange {
  double largest = 0;    ///< largest magnitude, without NaN
  double smallest = 0;   ///< smallest magnitude other than 0
  double overflow = 0;   ///< share, 0 to 1, of finite values that become infinite in the compute dtype
  double underflow = 0;  ///< share, 0 to 1, of values other than 0 that become 0 or subnormal in the compute dtype
};

/// Measurements of a layer with ops of its own. Errors are relative norms |y - y32| / |y32| of everything that other
/// layers read from it: NaN if a value is NaN, inf if one is infinite. Times are 0 if they were not measured, and if
/// the rounds of the measurement don't agree on them.
struct LayerPrecision {
  std::string path;                      ///< "": ops of the model outside of its layers
  std::string kind;                      ///< class of the layer: "Dense"
  DType compute_dtype = DType::float32;  ///< dtype of the layer's ops under the policy
  double effect = 0;          ///< worse error of the model, output or gradient, if this layer alone follows the policy
  double own_error = 0;       ///< error of the layer's output if it alone follows the policy, so from float32 inputs
  double int8_error = 0;      ///< difference that products of int8 make to the layer's output: relative norm of the
                              ///< difference from the layer's output in the same dtypes without them, from float32
                              ///< inputs; 0: it has none
  double output_error = 0;    ///< error of the layer's output if all layers follow the policy
  double gradient_error = 0;  ///< error of its weights' gradients in that case; without weights, of its output's
                              ///< cotangent
  ValueRange activations;     ///< range of the layer's output in float32
  ValueRange gradients;       ///< range of the output's cotangent in float32, multiplied by the loss scale
  double time = 0;            ///< microseconds per training step under the policy, both passes
  double float32_time = 0;    ///< microseconds per training step in float32
};

/// Result of precision_report(). Times are 0 if they were not measured, and if the rounds of the measurement don't
/// agree on them.
struct MEZZO_API PrecisionReport {
  std::string policy;                  ///< name of the policy; "": the model's own policies
  double output_error = 0;             ///< error of the model's predictions, |y - y32| / |y32|
  double gradient_error = 0;           ///< error of the gradients of all trainable weights, as one vector
  double loss = 0;                     ///< under the policy
  double float32_loss = 0;             ///< in float32
  double loss_scale = 1;               ///< loss scale of the gradients; 1 if none was computed in float16
  double time = 0;                     ///< microseconds per training step under the policy
  double float32_time = 0;             ///< microseconds per training step in float32
  std::vector<LayerPrecision> layers;  ///< sorted by effect, then output_error; the worst first, NaN before all

  /// Numbers of the whole model, then a table with one line per layer.
  std::string text() const;

  /// JSON object with the names of these fields. Non-finite numbers are strings: "nan", "inf".
  std::string json() const;

  /// text() as text/plain and json() as application/json.
  MimeBundle mime() const;
};

namespace detail {

/// Reports on a copy of the model, which is changed.
MEZZO_API PrecisionReport precision_report(Module& copy, const HostBatch& batch, const PrecisionReportOptions& options);

/// Throws the ValueError of a model that is passed as a reference to a base class.
[[noreturn]] MEZZO_API void refuse_slicing(const Module& model, const char* where);

/// Deep copy of the model. A ValueError if the model is of a class derived from M, because the copy would be sliced.
template <class M>
M copy_for_report(const M& model, const char* where) {
  static_assert(std::is_base_of_v<Module, M>, "reports are of Modules and Models");
  if (typeid(model) != typeid(M)) refuse_slicing(model, where);
  return clone(model);
}

}  // namespace detail

/// Compares a training step of a built model on one batch under a policy with the same step in float32, layer by layer:
///
///     std::cout << precision_report(model, loader, {.precision = "bf16"}).text();
///
/// The float32 step ignores the dtypes that layers have of their own. Steps are computed op by op, with the same random
/// numbers and before any update, on a copy of the model. Weights, optimizers, counters, statistics and plans of the
/// model don't change. The loss scale is halved until no gradient overflows, as in training. A ValueError if the model
/// has no weights yet, the precision applies to no layer, or an option is out of range; other errors are those of
/// training.
template <class M>
PrecisionReport precision_report(const M& model, const detail::ReportBatch& batch,
                                 const PrecisionReportOptions& options = {}) {
  M copy = detail::copy_for_report(model, "precision_report");
  return detail::precision_report(copy, batch.batch(), options);
}

}  // namespace mezzo
