#include <mezzo/report/precision_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/report/errors.hpp>
#include <mezzo/report/precision_probe.hpp>

namespace mezzo {
namespace {

constexpr double nanoseconds = 1e-3;  // in microseconds

/// Errors and ranges of one layer.
LayerPrecision measured(const detail::LayerRun& run, double scale, const detail::LayerRun& exact, DType dtype) {
  const std::string what = "[precision_report] layer \"" + run.path + "\"";
  LayerPrecision layer;
  layer.path = run.path;
  layer.compute_dtype = dtype;
  layer.output_error = detail::relative_error(run.outputs, 1, exact.outputs, what);
  layer.gradient_error = run.gradients.empty() ? detail::relative_error(run.cotangents, scale, exact.cotangents, what)
                                               : detail::relative_error(run.gradients, scale, exact.gradients, what);
  layer.activations = detail::range_of(exact.outputs, 1, dtype);
  layer.gradients = detail::range_of(exact.cotangents, scale, dtype);
  return layer;
}

/// Microseconds of a plan's kernels, by layer.
std::map<std::string, double> times_of(const Plan& plan) {
  std::map<std::string, double> out;
  std::size_t lap = 0;
  for (const Plan::Row& row : plan.rows()) out[row.path] += plan.profile().lap_time(lap++) * nanoseconds;
  return out;
}

bool before(const LayerPrecision& a, const LayerPrecision& b) {
  if (detail::is_worse(a.effect, b.effect) || detail::is_worse(b.effect, a.effect)) {
    return detail::is_worse(a.effect, b.effect);
  }
  return detail::is_worse(a.output_error, b.output_error);
}

void check(const PrecisionReportOptions& options) {
  if (options.steps < 0) {
    throw ValueError("[precision_report] steps must be 0 or more; got " + std::to_string(options.steps));
  }
  if (options.precision.automatic()) {
    throw ValueError("[precision_report] precision \"auto\" is for fit; give the policy that is to be looked at");
  }
  check_loss_scale({.initial_scale = options.loss_scale}, "[precision_report] loss_scale as ");
}

}  // namespace

PrecisionReport detail::precision_report(Module& copy, const HostBatch& batch, const PrecisionReportOptions& options) {
  check(options);
  PrecisionProbe probe(copy, batch, options.loss_scale, "[precision_report]");
  const Policy& policy = options.precision.policy();
  const StepRun run = probe.run(policy);
  const auto places = probe.places();
  const ModelErrors whole = probe.errors(run);
  PrecisionReport report;
  report.policy = policy.name();
  report.output_error = whole.output;
  report.gradient_error = whole.gradient;
  report.loss = run.loss;
  report.float32_loss = probe.float32().loss;
  report.loss_scale = run.loss_scale;
  for (const LayerRun& layer : run.layers) {
    const std::string what = "[precision_report] layer \"" + layer.path + "\"";
    const LayerRun* exact = probe.float32().find(layer.path);
    if (exact == nullptr) throw ValueError(what + " computes nothing in float32");
    const PrecisionProbe::Place& place = places.at(layer.path);
    report.layers.push_back(measured(layer, run.loss_scale, *exact, computes_in(place.policy)));
    LayerPrecision& row = report.layers.back();
    row.kind = place.kind;
    if (!options.by_layer || is_float32(place.policy)) continue;
    const StepRun alone = probe.run_alone(layer.path, place.policy);
    row.effect = probe.errors(alone).worst();
    if (const LayerRun* own = alone.find(layer.path)) {
      row.own_error = relative_error(own->outputs, 1, exact->outputs, what);
    }
  }
  if (options.steps > 0) {
    const auto plan = probe.time(policy, options.steps);
    auto times = times_of(*plan);
    const auto float32_plan = probe.time_float32(options.steps);
    auto float32_times = times_of(*float32_plan);
    report.time = plan->profile().wall_time() * nanoseconds;
    report.float32_time = float32_plan->profile().wall_time() * nanoseconds;
    for (LayerPrecision& layer : report.layers) {
      layer.time = times[layer.path];
      layer.float32_time = float32_times[layer.path];
    }
  }
  std::stable_sort(report.layers.begin(), report.layers.end(), before);
  return report;
}

}  // namespace mezzo
