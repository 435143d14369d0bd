#include <mezzo/data/text/bert_words.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <utf8proc.h>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool is_dropped(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c == replacement_character) return true;
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CO;
}

bool is_space(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return true;
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP;
}

// BERT's blocks of ideographs. Hugging Face's code starts extension E at 2B920; Unicode starts it at 2B820.
bool is_cjk(char32_t c) {
  constexpr std::array<std::pair<char32_t, char32_t>, 8> blocks{{{0x4E00, 0x9FFF},
                                                                 {0x3400, 0x4DBF},
                                                                 {0x20000, 0x2A6DF},
                                                                 {0x2A700, 0x2B73F},
                                                                 {0x2B740, 0x2B81F},
                                                                 {0x2B920, 0x2CEAF},
                                                                 {0xF900, 0xFAFF},
                                                                 {0x2F800, 0x2FA1F}}};
  return c >= 0x3400 && std::any_of(blocks.begin(), blocks.end(),
                                    [&](const auto& block) { return c >= block.first && c <= block.second; });
}

// In ASCII, everything but letters, digits, space and controls is punctuation: also `$` and `^`, which are symbols in
// Unicode.
bool is_punctuation(char32_t c) {
  if (c < 0x80) return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') || (c > 'z' && c < 0x7F);
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

std::u32string clean(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (const char32_t c : decode_utf8(text)) {
    if (is_dropped(c)) continue;
    if (is_cjk(c)) {
      out += {U' ', c, U' '};
    } else {
      out += is_space(c) ? U' ' : c;
    }
  }
  return out;
}

std::u32string decompose(const std::u32string& text) {
  const std::string bytes = encode_utf8(text);
  const auto* in = reinterpret_cast<const utf8proc_uint8_t*>(bytes.data());
  const auto size = static_cast<utf8proc_ssize_t>(bytes.size());
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  std::vector<utf8proc_int32_t> out(text.size() + text.size() / 2 + 16);
  while (true) {
    const utf8proc_ssize_t count =
        utf8proc_decompose(in, size, out.data(), static_cast<utf8proc_ssize_t>(out.size()), options);
    if (count < 0) {
      fail<Error>("[WordPieceTokenizer]", "a text of {} bytes must decompose; utf8proc: {}", bytes.size(),
                  utf8proc_errmsg(count));
    }
    const bool fits = static_cast<std::size_t>(count) <= out.size();
    out.resize(static_cast<std::size_t>(count));
    if (fits) return {out.begin(), out.end()};
  }
}

std::u32string strip_accents_and_case(const std::u32string& text) {
  std::u32string out;
  out.reserve(text.size());
  for (const char32_t c : decompose(text)) {
    if (category(c) == UTF8PROC_CATEGORY_MN) continue;
    out += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  }
  return out;
}

}  // namespace

std::vector<std::u32string> bert_words(std::string_view text, bool lowercase) {
  std::u32string cleaned = clean(text);
  if (lowercase) cleaned = strip_accents_and_case(cleaned);
  std::vector<std::u32string> words;
  bool inside = false;
  for (const char32_t c : cleaned) {
    const bool alone = is_punctuation(c);
    if (is_space(c)) {
      inside = false;
    } else if (inside && !alone) {
      words.back() += c;
    } else {
      words.emplace_back(1, c);
      inside = !alone;
    }
  }
  return words;
}

}  // namespace mezzo::detail
