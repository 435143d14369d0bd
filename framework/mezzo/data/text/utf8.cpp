#include <mezzo/data/text/utf8.hpp>

#include <utf8proc.h>

#include <mezzo/core/is_utf8.hpp>

namespace mezzo::detail {

CodePoint first_code_point(std::string_view text) {
  utf8proc_int32_t value = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t count = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (count <= 0) return {};
  return {.value = static_cast<char32_t>(value), .bytes = static_cast<std::size_t>(count), .valid = true};
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    out += c.value;
    text.remove_prefix(c.bytes);
  }
  return out;
}

void append_valid_utf8(std::string& out, std::string_view text) {
  std::size_t valid = 0;
  while (valid < text.size()) {
    const std::string_view rest = text.substr(valid);
    const CodePoint c = first_code_point(rest);
    if (c.valid) {
      valid += c.bytes;
      continue;
    }
    out += text.substr(0, valid);
    append_utf8(out, replacement_character);
    text = rest.substr(utf8_start(rest).bytes);
    valid = 0;
  }
  out += text;
}

void append_utf8(std::string& out, char32_t c) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

std::string encode_utf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t c : text) append_utf8(out, c);
  return out;
}

}  // namespace mezzo::detail
