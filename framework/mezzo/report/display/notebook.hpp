#pragma once
#include <nlohmann/json.hpp>

#include <mezzo/report/display/image_grid.hpp>
#include <mezzo/report/display/line_chart.hpp>
#include <mezzo/report/display/text.hpp>
#include <mezzo/report/suggest_policy.hpp>

namespace mezzo {

/// @name Display in xeus-cling
/// Called by `xcpp::display(x)` and for a cell whose last line is `x`; found by argument-dependent lookup. They are
/// compiled in the notebook, so that they return the json class of the kernel's own nlohmann_json.
/// @{
inline nlohmann::json mime_bundle_repr(const ImageGrid& images) { return images.mime(); }
inline nlohmann::json mime_bundle_repr(const LineChart& chart) { return chart.mime(); }
inline nlohmann::json mime_bundle_repr(const PrecisionReport& report) { return report.mime(); }
inline nlohmann::json mime_bundle_repr(const PolicySuggestion& made) { return {{"text/plain", made.text()}}; }
inline nlohmann::json mime_bundle_repr(const Tensor& tensor) { return {{"text/plain", to_text(tensor)}}; }
inline nlohmann::json mime_bundle_repr(const History& history) { return {{"text/plain", to_text(history)}}; }
/// @}

}  // namespace mezzo
