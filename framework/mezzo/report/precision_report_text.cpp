#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include <mezzo/core/text_table.hpp>
#include <mezzo/report/errors.hpp>
#include <mezzo/report/precision_report.hpp>

namespace mezzo {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no numbers for NaN and infinity.
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
  return share_text(range.overflow) + ", " + share_text(range.underflow);
}

std::string time_text(double time) { return time == 0 ? "-" : fmt::format("{:.1f}", time); }

const std::vector<detail::Column> columns{{"Layer (type)"}, {"Compute"},        {"Effect", true}, {"Own", true},
                                          {"Output", true}, {"Gradient", true}, {"Activations"},  {"Over, under"},
                                          {"Cotangents"},   {"Over, under"},    {"us", true},     {"us float32", true}};

}  // namespace

std::string PrecisionReport::text() const {
  std::string text =
      fmt::format("{} against float32: output error {}, gradient error {}\nloss {:.6g}, in float32 {:.6g}",
                  policy.empty() ? "the model's own policies" : policy, detail::error_text(output_error),
                  detail::error_text(gradient_error), loss, float32_loss);
  if (loss_scale != 1) text += fmt::format("; loss scale {:.8g}", loss_scale);
  if (time > 0) text += fmt::format("; a step takes {:.1f} us, in float32 {:.1f} us", time, float32_time);
  std::vector<std::vector<std::string>> rows;
  for (const LayerPrecision& layer : layers) {
    rows.push_back({(layer.path.empty() ? "" : layer.path + " ") + "(" + layer.kind + ")",
                    dtype_name(layer.compute_dtype), detail::error_text(layer.effect),
                    detail::error_text(layer.own_error), detail::error_text(layer.output_error),
                    detail::error_text(layer.gradient_error), range_text(layer.activations),
                    lost_text(layer.activations), range_text(layer.gradients), lost_text(layer.gradients),
                    time_text(layer.time), time_text(layer.float32_time)});
  }
  text += "\n";
  for (const std::string& line : detail::table_lines(columns, rows)) text += line + "\n";
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
