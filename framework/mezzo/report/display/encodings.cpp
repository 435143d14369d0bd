#include <mezzo/report/display/encodings.hpp>

namespace mezzo::detail {

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
