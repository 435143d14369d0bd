#include <mezzo/core/is_utf8.hpp>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

Utf8Start utf8_start(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::size_t at = 1;
  for (; at < length && at < text.size(); ++at) {
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (at == 1 && lead == 0xE0) low = 0xA0;   // shorter forms exist
    if (at == 1 && lead == 0xED) high = 0x9F;  // surrogates
    if (at == 1 && lead == 0xF0) low = 0x90;   // shorter forms exist
    if (at == 1 && lead == 0xF4) high = 0x8F;  // above U+10FFFF
    if (byte(at) < low || byte(at) > high) break;
  }
  return {at, at == length};
}

// Exported for the parts that are libraries of their own, such as mezzo::onnx.
MEZZO_API bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Start start = utf8_start(text);
    if (!start.valid) return false;
    text.remove_prefix(start.bytes);
  }
  return true;
}

}  // namespace mezzo::detail
