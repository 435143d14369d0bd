#include <mezzo/report/display/encodings.hpp>

#include <algorithm>
#include <cstdint>

namespace mezzo::detail {

std::string base64(const Bytes& bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < have ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= have ? digits[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

std::string xml_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML 1.0 allows no other control characters, not even escaped.
        out += static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n' ? c : ' ';
    }
  }
  return out;
}

}  // namespace mezzo::detail
