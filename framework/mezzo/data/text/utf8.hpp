#pragma once
#include <string>
#include <string_view>

namespace mezzo::detail {

constexpr char32_t replacement_character = 0xFFFD;

struct CodePoint {
  char32_t value = replacement_character;
  std::size_t bytes = 1;
  bool valid = false;
};

// The code point at the start of `text`, which is not empty. What is not UTF-8 (overlong, a surrogate, above U+10FFFF,
// cut off) is one byte of U+FFFD.
CodePoint first_code_point(std::string_view text);

// All code points; what is not UTF-8 becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);

void append_utf8(std::string& out, char32_t c);

std::string encode_utf8(std::u32string_view text);

}  // namespace mezzo::detail
