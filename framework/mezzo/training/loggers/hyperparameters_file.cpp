#include <mezzo/training/loggers/hyperparameters_file.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/training/loggers/log_text.hpp>
#include <nlohmann/json.hpp>

namespace mezzo::detail {
namespace {

/// A text in double quotes, with YAML's escapes, which include those of JSON.
std::string in_quotes(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string yaml_key(const std::string& name) {
  static const std::set<std::string> words{"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  std::string lower = name;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool plain = !name.empty() && letter(name.front()) && words.count(lower) == 0 &&
                     std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  return plain ? name : in_quotes(name);
}

std::string yaml_number(double number) {
  if (std::isnan(number)) return ".nan";
  if (std::isinf(number)) return number > 0 ? ".inf" : "-.inf";
  std::string text = python_text(number);
  const std::size_t exponent = text.find('e');
  // YAML 1.1 reads 1e-07 as a text.
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

std::string yaml_value(const Hyperparameter& param) {
  if (const auto* flag = std::get_if<bool>(&param.value())) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&param.value())) return fmt::to_string(*whole);
  if (const auto* number = std::get_if<double>(&param.value())) return yaml_number(*number);
  return in_quotes(std::get<std::string>(param.value()));
}

}  // namespace

void merge(Hyperparameters& into, const Hyperparameters& params) {
  for (const auto& [name, value] : params) {
    const auto found =
        std::find_if(into.begin(), into.end(), [&wanted = name](const auto& e) { return e.first == wanted; });
    if (found == into.end()) {
      into.emplace_back(name, value);
    } else {
      found->second = value;
    }
  }
}

void write_yaml(const std::string& path, const std::string& where, const Hyperparameters& params) {
  std::string text;
  for (const auto& [name, value] : params) text += fmt::format("{}: {}\n", yaml_key(name), yaml_value(value));
  replace_file(path, text, fmt::format("{} \"{}\":", where, path));
}

}  // namespace mezzo::detail
