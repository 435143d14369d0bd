#pragma once
#include <cstdint>

// Classes of characters as the regular expressions and standard functions of Rust define them, by the tables of
// utf8proc.

namespace mezzo::detail {

/// Unicode's White_Space.
bool is_white_space(char32_t c);

/// ASCII's punctuation, also symbols such as `$` and `^`; else Unicode's categories Pc to Po.
bool is_punctuation(char32_t c);

/// Categories Nd, Nl and No.
bool is_numeric(char32_t c);

/// Categories Mn, Mc and Me.
bool is_mark(char32_t c);

/// Category Mn.
bool is_nonspacing_mark(char32_t c);

/// `\w` of a regular expression: alphabetic characters, marks, decimal digits, connectors and joiners.
bool is_word_character(char32_t c);

/// Control, format and private characters, but not tab, line feed and carriage return.
bool is_control(char32_t c);

/// BERT's blocks of ideographs.
bool is_cjk(char32_t c);

/// Lower case of one character. U+0130 has two characters, see below.
char32_t to_lower(char32_t c);

/// Second character of the lower case of U+0130.
constexpr char32_t dot_above = 0x307;
constexpr char32_t capital_i_with_dot = 0x130;

}  // namespace mezzo::detail
