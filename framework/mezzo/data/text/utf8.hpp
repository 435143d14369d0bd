#pragma once
#include <string>
#include <string_view>

namespace mezzo::detail {

constexpr char32_t replacement_character = 0xFFFD;

/// One decoded code point. Invalid UTF-8 decodes to one byte of U+FFFD.
struct CodePoint {
  char32_t value = replacement_character;
  std::size_t bytes = 1;  ///< length in the text
  bool valid = false;     ///< false for overlong forms, surrogates, values above U+10FFFF and truncated sequences
};

/// Decodes the code point at the start of `text`, which must not be empty.
CodePoint first_code_point(std::string_view text);

/// Decodes a whole text; every invalid byte becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);

/// Appends a text to `out`, with U+FFFD in place of each invalid sequence: a truncated character is one sequence, any
/// other invalid byte too. Python's errors="replace" and Unicode's chapter 3.9 do the same.
void append_valid_utf8(std::string& out, std::string_view text);

/// Appends the UTF-8 form of one code point to `out`.
void append_utf8(std::string& out, char32_t c);

/// Encodes a whole text.
std::string encode_utf8(std::u32string_view text);

}  // namespace mezzo::detail
