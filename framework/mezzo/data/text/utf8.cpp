#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

std::size_t length_of(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC0) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF8 ? 4 : 0;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned lead = byte_at(text, 0);
  const std::size_t length = length_of(lead);
  if (length == 1) return {lead, 1, true};
  if (length == 0 || length > text.size()) return {};
  char32_t value = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned byte = byte_at(text, i);
    if ((byte & 0xC0U) != 0x80U) return {};
    value = (value << 6) | (byte & 0x3FU);
  }
  if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, length, true};
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

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  const auto tail = [&](int shift) { put(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    put(0xF0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string encode_utf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t c : text) append_utf8(out, c);
  return out;
}

}  // namespace mezzo::detail
