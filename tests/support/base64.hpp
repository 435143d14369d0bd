#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mezzo_tests {

// Bytes of a base64 text, such as a recorded file.
inline std::vector<std::uint8_t> decoded_base64(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : base64) {
    if (c == '=') break;
    word = (word << 6U) | static_cast<std::uint32_t>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::uint8_t>(word >> static_cast<unsigned>(bits)));
  }
  return bytes;
}

}  // namespace mezzo_tests
