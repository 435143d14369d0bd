#pragma once
#include <string>
#include <string_view>

#include <mezzo/data/text/tokenizer/aligned_text.hpp>

namespace mezzo::detail {

/// Printable character of a byte, as byte-level BPE writes it (Radford et al., 2019): a space is `Ġ`.
char32_t character_of_byte(unsigned char byte);

/// Appends the characters of bytes [from, to) of a text.
void append_byte_characters(const AlignedText& text, std::size_t from, std::size_t to, AlignedText& out);

/// Appends the bytes of a token of such characters; the token itself if it has others.
void append_bytes_of_characters(std::string_view token, std::string& out);

/// True for `Ġ` and white space.
bool is_space_of_bytes(char32_t c);

}  // namespace mezzo::detail
