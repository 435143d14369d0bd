#include <mezzo/core/base64.hpp>

#include <algorithm>
#include <cstdint>

namespace mezzo::detail {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(const void* bytes, std::size_t count) {
  const auto* const from = static_cast<const std::uint8_t*>(bytes);
  std::string out;
  out.reserve((count + 2) / 3 * 4);
  for (std::size_t i = 0; i < count; i += 3) {
    const std::size_t have = std::min<std::size_t>(3, count - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8U | (k < have ? from[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= have ? base64_digits[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

std::optional<std::string> decode_base64(std::string_view digits) {
  std::string out;
  out.reserve(digits.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : digits) {
    const std::size_t digit = base64_digits.find(c);
    if (digit == std::string_view::npos) return {};
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFFU);
  }
  return out;
}

}  // namespace mezzo::detail
