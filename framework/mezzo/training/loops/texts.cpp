#include <mezzo/training/loops/texts.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/training/loggers/log_text.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo::detail {
namespace {

/// Throws a format_error for a width or precision that no file name has room for.
void check_width(const std::string& specification) {
  constexpr std::size_t most = 255;  // bytes of a file name
  std::size_t number = 0;
  for (const char c : specification) {
    number = c >= '0' && c <= '9' ? 10 * number + static_cast<std::size_t>(c - '0') : 0;
    if (number > most) throw fmt::format_error(fmt::format("width and precision must be at most {}", most));
  }
}

/// A number in Python's format: `02d`, `.3f`. Epochs and batches are integers; they print as floats for f, e and g.
std::string formatted(double number, bool whole, const std::string& specification) {
  check_width(specification);
  if (specification.empty()) return whole ? fmt::format("{:.0f}", number) : python_text(number);
  const std::string text = "{:" + specification + "}";
  const char kind = specification.back();
  if (kind == '%') {
    return fmt::format(fmt::runtime("{:" + specification.substr(0, specification.size() - 1) + "f}%"), 100 * number);
  }
  const bool as_float = std::string("eEfFgG").find(kind) != std::string::npos;
  if (whole && !as_float) return fmt::format(fmt::runtime(text), static_cast<std::int64_t>(number));
  return fmt::format(fmt::runtime(text), number);
}

}  // namespace

std::string filled_path(const std::string& where, const std::string& path,
                        const std::vector<std::pair<std::string, std::int64_t>>& counts, const Logs& logs) {
  const auto refuse = [&](const std::string& reason) {
    fail<ValueError>(where, "filepath \"{}\" can't be filled in: {}", path, reason);
  };
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if ((c == '{' || c == '}') && i + 1 < path.size() && path[i + 1] == c) {
      out += path[i++];
    } else if (c == '}') {
      refuse("single '}' in the path");
    } else if (c != '{') {
      out += c;
    } else {
      const std::size_t end = path.find('}', i);
      if (end == std::string::npos) refuse("'}' expected after '{'");
      const std::string field = path.substr(i + 1, end - i - 1);
      const std::size_t colon = std::min(field.find(':'), field.size());
      const std::string name = field.substr(0, colon);
      const std::string specification = colon < field.size() ? field.substr(colon + 1) : "";
      std::optional<double> number = find_log(logs, name);
      const auto count = std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == name; });
      const bool whole = !number && count != counts.end();
      if (whole) number = static_cast<double>(count->second);
      if (!number) {
        std::vector<std::string> names;
        for (const auto& entry : counts) names.push_back(entry.first);
        for (const auto& entry : logs) names.push_back(entry.first);
        refuse(detail::unknown_text("name", name, names));
      }
      try {
        out += formatted(*number, whole, specification);
      } catch (const fmt::format_error& error) {
        refuse(fmt::format("\"{}\" is no format of {}: {}", specification, name, error.what()));
      }
      i = end;
    }
  }
  return out;
}

void make_folder_of(const std::string& where, const std::string& path) {
  check_path(path, where);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) fail<FileError>(where, "folder \"{}\" can't be made: {}", folder.string(), error.message());
}

std::optional<double> number_in(const CallbackState& state, const std::string& key) {
  const auto found = state.numbers.find(key);
  return found == state.numbers.end() ? std::optional<double>() : found->second;
}

int count_in(const CallbackState& state, const std::string& key) {
  constexpr double largest = 0x1p30;
  const double number = number_in(state, key).value_or(0);
  return number >= 0 && number <= largest ? static_cast<int>(number) : 0;  // files may come from others
}

}  // namespace mezzo::detail
