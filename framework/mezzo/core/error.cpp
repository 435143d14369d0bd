#include <mezzo/core/error.hpp>

#include <algorithm>

#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

/// True for a byte of a UTF-8 character that is not its first.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

void append_escaped(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < ' ' || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {  // U+0080 to U+009F
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
}

}  // namespace

MEZZO_API std::string detail::one_line(std::string_view text) {
  constexpr std::size_t most = 8000, most_at_end = 2000;
  std::string out;
  if (text.size() <= most) {
    append_escaped(out, text);
    return out;
  }
  std::size_t begin = most - most_at_end, end = text.size() - most_at_end;
  while (begin > 0 && continues(text[begin])) --begin;
  while (end < text.size() && continues(text[end])) ++end;
  append_escaped(out, text.substr(0, begin));
  out += fmt::format(" ... ({} bytes left out) ... ", end - begin);
  append_escaped(out, text.substr(end));
  return out;
}

// Exported for the parts that are libraries of their own, such as mezzo::onnx.
MEZZO_API std::string detail::unknown_text(std::string_view kind, std::string_view name,
                                           const std::vector<std::string>& valid) {
  const std::string nearest = valid.size() > 1 ? detail::nearest_text(std::string(name), valid) : "";
  return fmt::format("unknown {} \"{}\"; valid names: {}{}", kind, name, fmt::join(valid, ", "), nearest);
}

MEZZO_API std::string detail::located(std::string_view where, fmt::string_view message, fmt::format_args arguments) {
  const std::string text = fmt::vformat(message, arguments);
  return where.empty() ? text : fmt::format("{} {}", where, text);
}

Error::Error(const std::string& text) : std::runtime_error(detail::one_line(text)) {}

}  // namespace mezzo
