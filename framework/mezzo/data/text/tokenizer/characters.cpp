#include <mezzo/data/text/tokenizer/characters.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <utf8proc.h>

namespace mezzo::detail {
namespace {

using Block = std::pair<char32_t, char32_t>;

// Extension E starts at 2B920 in Hugging Face's code; Unicode starts it at 2B820.
constexpr std::array<Block, 8> cjk_blocks{{{0x4E00, 0x9FFF},
                                           {0x3400, 0x4DBF},
                                           {0x20000, 0x2A6DF},
                                           {0x2A700, 0x2B73F},
                                           {0x2B740, 0x2B81F},
                                           {0x2B920, 0x2CEAF},
                                           {0xF900, 0xFAFF},
                                           {0x2F800, 0x2FA1F}}};

// Symbols that are alphabetic: circled and squared letters.
constexpr std::array<Block, 4> alphabetic_symbols{
    {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}}};

template <std::size_t n>
bool is_in(const std::array<Block, n>& blocks, char32_t c) {
  return std::any_of(blocks.begin(), blocks.end(), [&](const Block& b) { return c >= b.first && c <= b.second; });
}

int category_of(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

}  // namespace

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  if (c == 0x85) return true;
  const int kind = category_of(c);
  return kind >= UTF8PROC_CATEGORY_ZS && kind <= UTF8PROC_CATEGORY_ZP;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') || (c > 'z' && c < 0x7F);
  const int kind = category_of(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_numeric(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  const int kind = category_of(c);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_mark(char32_t c) {
  if (c < 0x300) return false;
  const int kind = category_of(c);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t c) { return c >= 0x300 && category_of(c) == UTF8PROC_CATEGORY_MN; }

bool is_word_character(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  const int kind = category_of(c);
  return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NL) || kind == UTF8PROC_CATEGORY_PC ||
         c == 0x200C || c == 0x200D || is_in(alphabetic_symbols, c);
}

bool is_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c < 0x80) return c < ' ' || c == 0x7F;
  const int kind = category_of(c);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CO;
}

bool is_cjk(char32_t c) { return c >= 0x3400 && is_in(cjk_blocks, c); }

char32_t to_lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace mezzo::detail
