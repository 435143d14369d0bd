#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/report/precision_report.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/report/errors.hpp>
#include <mezzo/report/precision_probe.hpp>
#include <mezzo/training/step/int8_policy.hpp>

namespace mezzo {
namespace {

constexpr const char* caller = "[precision_report]";
constexpr double microseconds_in_second = 1e6;

std::string layer_label(const std::string& path) { return fmt::format("{} layer \"{}\"", caller, path); }

/// Errors and ranges of one layer.
LayerPrecision measured(const detail::LayerRun& run, double scale, const detail::LayerRun& exact, DType dtype) {
  const std::string what = layer_label(run.path);
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

bool before(const LayerPrecision& a, const LayerPrecision& b) {
  if (detail::is_worse(a.effect, b.effect) || detail::is_worse(b.effect, a.effect)) {
    return detail::is_worse(a.effect, b.effect);
  }
  return detail::is_worse(a.output_error, b.output_error);
}

void check(const PrecisionReportOptions& options) {
  if (options.steps < 0) fail<ValueError>(caller, "steps must be 0 or more; got {}", options.steps);
  if (options.precision.automatic()) {
    fail<ValueError>(caller, "precision must name a policy; got \"{}\", which only fit resolves",
                     options.precision.int8_inside() ? "auto-int8" : "auto");
  }
  detail::check_loss_scale({.initial_scale = options.loss_scale}, fmt::format("{} loss_scale as ", caller));
}

using Json = nlohmann::ordered_json;

/// A number, or its name for NaN and infinity, which JSON can't represent.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json range_json(const ValueRange& range) {
  return {{"largest", number(range.largest)},
          {"smallest", number(range.smallest)},
          {"overflow", number(range.overflow)},
          {"underflow", number(range.underflow)}};
}

Json layer_json(const LayerPrecision& layer) {
  return {{"path", layer.path},
          {"kind", layer.kind},
          {"compute_dtype", dtype_name(layer.compute_dtype)},
          {"effect", number(layer.effect)},
          {"own_error", number(layer.own_error)},
          {"int8_error", number(layer.int8_error)},
          {"output_error", number(layer.output_error)},
          {"gradient_error", number(layer.gradient_error)},
          {"activations", range_json(layer.activations)},
          {"gradients", range_json(layer.gradients)},
          {"time", number(layer.time)},
          {"float32_time", number(layer.float32_time)}};
}

std::string range_text(const ValueRange& range) {
  return range.largest == 0 ? "0" : fmt::format("{:.1e} {:.1e}", range.smallest, range.largest);
}

std::string share_text(double share) { return share == 0 ? "0" : fmt::format("{:.3g} %", 100 * share); }

std::string lost_text(const ValueRange& range) {
  return fmt::format("{}, {}", share_text(range.overflow), share_text(range.underflow));
}

std::string time_text(double time) { return time == 0 ? "-" : fmt::format("{:.1f}", time); }

const std::vector<detail::TextColumn> columns{
    {"Layer (type)"}, {"Compute"},        {"Effect", true},    {"Own", true},   {"Int8", true},
    {"Output", true}, {"Gradient", true}, {"Activations"},     {"Over, under"}, {"Cotangents"},
    {"Over, under"},  {"us", true},       {"us float32", true}};
constexpr std::ptrdiff_t int8_column = 4;  // left out if no layer has products of int8

/// LayerPrecision::int8_error of a layer that alone follows the policy.
double int8_error(detail::PrecisionProbe& probe, const detail::LayerRun& own, const Policy& policy,
                  const std::string& what) {
  if (policy.products() == ProductFormat::same) return 0;
  const detail::StepRun without = probe.run_alone(own.path, detail::without_int8(policy));
  const detail::LayerRun* const same = without.find(own.path);
  return same == nullptr ? 0 : detail::relative_error(own.outputs, 1, same->outputs, what);
}

}  // namespace

PrecisionReport detail::precision_report(Module& copy, const HostBatch& batch, const PrecisionReportOptions& options) {
  check(options);
  PrecisionProbe probe(copy, batch, options.loss_scale, caller);
  const Policy policy = completed_policy(options.precision.policy(), options.precision.int8_inside(), copy);
  require_quantized(*copy.state(), policy, "[precision_report] precision:");
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
    const std::string what = layer_label(layer.path);
    const LayerRun* exact = probe.float32().find(layer.path);
    if (exact == nullptr) fail<ValueError>(what, "must compute in float32 as under the policy; got no float32 values");
    const PrecisionProbe::Place& place = places.at(layer.path);
    report.layers.push_back(measured(layer, run.loss_scale, *exact, detail::computes_in(place.policy)));
    LayerPrecision& row = report.layers.back();
    row.kind = place.kind;
    if (!options.by_layer || is_float32(place.policy)) continue;
    const StepRun alone = probe.run_alone(layer.path, place.policy);
    row.effect = probe.errors(alone).worst();
    if (const LayerRun* own = alone.find(layer.path)) {
      row.own_error = relative_error(own->outputs, 1, exact->outputs, what);
      row.int8_error = int8_error(probe, *own, place.policy, what);
    }
  }
  if (options.steps > 0) {
    const std::vector<StepTimes> times = probe.time({policy}, options.steps);
    report.float32_time = times[0].seconds * microseconds_in_second;
    report.time = times[1].seconds * microseconds_in_second;
    const auto of = [](const StepTimes& step, const std::string& path) {
      const auto found = step.layers.find(path);
      return found == step.layers.end() ? 0 : found->second * microseconds_in_second;
    };
    for (LayerPrecision& layer : report.layers) {
      layer.float32_time = of(times[0], layer.path);
      layer.time = of(times[1], layer.path);
    }
  }
  std::stable_sort(report.layers.begin(), report.layers.end(), before);
  return report;
}

void detail::refuse_slicing(const Module& model, const char* where) {
  fail<ValueError>(fmt::format("[{}]", where),
                   "the model must be passed as its own class, {}; got a reference to a base class",
                   model.state()->kind);
}

std::string PrecisionReport::text() const {
  std::string text =
      fmt::format("{} against float32: output error {}, gradient error {}\nloss {:.6g}, in float32 {:.6g}",
                  policy.empty() ? "the model's own policies" : policy, detail::error_text(output_error),
                  detail::error_text(gradient_error), loss, float32_loss);
  if (loss_scale != 1) text += fmt::format("; loss scale {:.8g}", loss_scale);
  if (time > 0 && float32_time > 0)
    text += fmt::format("; a step takes {:.1f} us, in float32 {:.1f} us", time, float32_time);
  std::vector<std::vector<std::string>> rows;
  for (const LayerPrecision& layer : layers) {
    rows.push_back({fmt::format("{}{}({})", layer.path, layer.path.empty() ? "" : " ", layer.kind),
                    dtype_name(layer.compute_dtype), detail::error_text(layer.effect),
                    detail::error_text(layer.own_error), detail::error_text(layer.int8_error),
                    detail::error_text(layer.output_error), detail::error_text(layer.gradient_error),
                    range_text(layer.activations), lost_text(layer.activations), range_text(layer.gradients),
                    lost_text(layer.gradients), time_text(layer.time), time_text(layer.float32_time)});
  }
  std::vector<detail::TextColumn> shown = columns;
  if (std::all_of(layers.begin(), layers.end(), [](const LayerPrecision& layer) { return layer.int8_error == 0; })) {
    shown.erase(shown.begin() + int8_column);
    for (auto& row : rows) row.erase(row.begin() + int8_column);
  }
  text += "\n";
  for (const std::string& line : detail::table_lines(shown, rows)) text += line + "\n";
  return text;
}

std::string PrecisionReport::json() const {
  Json out{{"policy", policy},     {"output_error", number(output_error)}, {"gradient_error", number(gradient_error)},
           {"loss", number(loss)}, {"float32_loss", number(float32_loss)}, {"loss_scale", number(loss_scale)},
           {"time", number(time)}, {"float32_time", number(float32_time)}, {"layers", Json::array()}};
  for (const LayerPrecision& layer : layers) out["layers"].push_back(layer_json(layer));
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

MimeBundle PrecisionReport::mime() const { return {{"text/plain", text()}, {"application/json", json()}}; }

}  // namespace mezzo
