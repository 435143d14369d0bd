#pragma once
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <mezzo/core/error.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/report/display/mime_bundle.hpp>
#include <mezzo/report/report_batch.hpp>
#include <mezzo/training/module.hpp>

namespace mezzo {

struct PrecisionReportOptions {
  Precision precision{};      ///< as a Trainer takes it, but "auto"; not given: the model's own policies
  bool by_layer = true;       ///< measures each layer's effect, for which each costs one step
  int steps = 3;              ///< timed training steps, means of which are shown; 0: no times
  double loss_scale = 65536;  ///< to begin with, where gradients are computed in float16
};

/// The numbers of some tensors, and which of them a dtype doesn't hold.
struct ValueRange {
  double largest = 0;    ///< magnitude; NaN isn't counted
  double smallest = 0;   ///< magnitude other than 0
  double overflow = 0;   ///< share, 0 to 1, of finite values that become infinite in the compute dtype
  double underflow = 0;  ///< share of values that aren't 0 and become 0 or subnormal there
};

/// A layer that computes something itself, as it was in the step. Errors are relative norms, |y - y32| / |y32|, of
/// everything that the layer gives to others; NaN where a value is NaN, inf where one is infinite.
struct LayerPrecision {
  std::string path;  ///< empty: what the model computes outside of its layers
  std::string kind;
  DType compute_dtype = DType::float32;
  double effect = 0;          ///< error of the model if this layer alone follows the policy: output's or gradient's
  double own_error = 0;       ///< of its output then, which means: from float32 inputs
  double output_error = 0;    ///< of its output where all layers follow the policy
  double gradient_error = 0;  ///< of its weights' gradients there; without weights, of its output's cotangent
  ValueRange activations;     ///< of its output in float32
  ValueRange gradients;       ///< of its output's cotangent in float32, multiplied by the loss scale
  double time = 0;            ///< microseconds a training step under the policy, both ways; 0 where not measured
  double float32_time = 0;
};

/// What precision_report() measured.
struct PrecisionReport {
  std::string policy;         ///< its name; empty: the model's own
  double output_error = 0;    ///< of the model's predictions, |y - y32| / |y32|
  double gradient_error = 0;  ///< of the gradients of all trainable weights, as one vector
  double loss = 0;            ///< under the policy
  double float32_loss = 0;
  double loss_scale = 1;  ///< that gradients were computed with, if any was in float16
  double time = 0;        ///< microseconds a training step takes; 0 where not measured
  double float32_time = 0;
  std::vector<LayerPrecision> layers;  ///< the largest effect first, NaN before all; then by output_error

  /// A table, a line a layer, below the numbers of the whole model.
  std::string text() const;

  /// The same as a JSON object with these fields' names. Numbers that aren't finite are strings: "nan", "inf".
  std::string json() const;

  /// text/plain and application/json.
  MimeBundle mime() const;
};

namespace detail {

/// Reports on a copy that may be changed.
PrecisionReport precision_report(Module& copy, const HostBatch& batch, const PrecisionReportOptions& options);

/// A copy of the model that shares nothing with it. A ValueError if the model is of a class derived from M, which a
/// copy would slice.
template <class M>
M copy_for_report(const M& model, const char* where) {
  static_assert(std::is_base_of_v<Module, M>, "reports are of Modules and Models");
  if (typeid(model) != typeid(M)) {
    throw ValueError(std::string("[") + where + "] give the model as the class it is, not as a reference to its base");
  }
  return clone(model);
}

}  // namespace detail

/// Compares a training step of a built model on one batch under a policy with float32, layer by layer:
///
///     std::cout << precision_report(model, loader, {.precision = "bf16"}).text();
///
/// float32 means: everywhere, whatever dtype layers have of their own. Steps are computed op by op on a copy of the
/// model, with the same random numbers, before any update; weights, optimizers, counters, statistics and plans of the
/// model stay as they are. The loss scale is halved until no gradient overflows, as training would. A ValueError if the
/// model has no weights yet, a precision reaches no layer, or an option is out of its range; else errors are
/// training's.
template <class M>
PrecisionReport precision_report(const M& model, const ReportBatch& batch, const PrecisionReportOptions& options = {}) {
  M copy = detail::copy_for_report(model, "precision_report");
  return detail::precision_report(copy, batch.batch(), options);
}

}  // namespace mezzo
