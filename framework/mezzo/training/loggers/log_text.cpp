#include <mezzo/training/loggers/log_text.hpp>

#include <fmt/format.h>

#include <cmath>

namespace mezzo::detail {

std::string python_text(double number) {
  const std::string text = fmt::format("{}", number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;  // "nan" and "inf" contain an n
}

std::string logged_text(const std::string& name, double number) {
  const bool counts = (name == "epoch" || name == "step") && std::floor(number) == number;
  return counts ? fmt::format("{:.0f}", number) : python_text(number);
}

std::string prefixed(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "-" + name;
}

std::string csv_field(const std::string& text, const std::string& separator) {
  if (text.find_first_of("\"\r\n" + separator) == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& fields, const std::string& separator) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? separator : "") + csv_field(fields[i], separator);
  return line + "\r\n";
}

std::vector<std::vector<std::string>> csv_lines(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> fields(1);
  bool inside_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const bool doubled = inside_quotes && i + 1 < text.size() && text[i + 1] == '"';
      if (doubled) {
        fields.back() += text[i++];
      } else {
        inside_quotes = !inside_quotes;
      }
    } else if (!inside_quotes && c == ',') {
      fields.emplace_back();
    } else if (!inside_quotes && c == '\n') {
      lines.push_back(std::move(fields));
      fields.assign(1, "");
    } else if (inside_quotes || c != '\r') {
      fields.back() += c;
    }
  }
  if (fields.size() > 1 || !fields.front().empty()) lines.push_back(std::move(fields));
  return lines;
}

}  // namespace mezzo::detail
