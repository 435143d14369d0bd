#include <fmt/format.h>

#include <mezzo/core/text_table.hpp>
#include <mezzo/report/errors.hpp>
#include <mezzo/report/suggest_policy.hpp>

namespace mezzo {
namespace {

std::string listed(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    text += (text.empty() ? "" : ", ") + (path.empty() ? "(outside of layers)" : path);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::string PolicySuggestion::text() const {
  const auto cells = [](const std::string& name, double output, double gradient, double microseconds) {
    return std::vector<std::string>{name, detail::error_text(output), detail::error_text(gradient),
                                    microseconds > 0 ? fmt::format("{:.1f}", microseconds) : "-"};
  };
  const auto lines = detail::table_lines(
      {{"Policy"}, {"Output error", true}, {"Gradient error", true}, {"us a step", true}},
      {cells("float32", 0, 0, float32_time), cells("suggested map", output_error, gradient_error, time),
       cells(precision, lowest_output_error, lowest_gradient_error, lowest_time)});
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text + fmt::format("max_error {}; in float32 stay {} of {} layers: {}\n", max_error, float32.size(),
                            float32.size() + lowered.size(), listed(float32));
}

}  // namespace mezzo
