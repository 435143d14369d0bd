#include <mezzo/data/text/tokenizer/unicode_forms.hpp>

#include <algorithm>
#include <array>

#include <utf8proc.h>

namespace mezzo::detail {
namespace {

int combining_class(char32_t c) {
  return c < 0x300 ? 0 : utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

/// Appends the decomposition of one character.
void decompose_character(char32_t c, bool compatible, std::vector<CharacterEdit>& out) {
  constexpr int longest = 32;  // 18 characters in Unicode 15
  std::array<utf8proc_int32_t, longest> parts{};
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  int state = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), longest, options, &state);
  if (count < 1 || count > longest) return out.push_back({c, 0});
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    out.push_back({static_cast<char32_t>(parts[static_cast<std::size_t>(i)]), i > 0 ? 1 : 0});
  }
}

std::vector<CharacterEdit> decomposed(const std::string& text, bool compatible) {
  std::vector<CharacterEdit> out;
  out.reserve(text.size());
  for_each_character_of(text, [&](char32_t c, std::size_t, std::size_t) {
    if (c < 0x80) return out.push_back({c, 0});
    decompose_character(c, compatible, out);
  });
  // Canonical order: marks between two starters are sorted by their classes.
  for (std::size_t i = 0; i < out.size();) {
    std::size_t end = i + 1;
    while (end < out.size() && combining_class(out[end].character) != 0) ++end;
    const auto marks = combining_class(out[i].character) == 0 ? i + 1 : i;
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(marks), out.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const CharacterEdit& a, const CharacterEdit& b) {
                       return combining_class(a.character) < combining_class(b.character);
                     });
    i = end;
  }
  return out;
}

/// Composition of two characters, or 0.
char32_t composed_pair(char32_t first, char32_t second) {
  if (second < 0x300) return 0;
  std::array<utf8proc_int32_t, 3> pair{static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second), 0};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  return utf8proc_normalize_utf32(pair.data(), 2, options) == 1 ? static_cast<char32_t>(pair[0]) : 0;
}

/// Composes decomposed text in canonical order.
std::vector<CharacterEdit> composed(const std::vector<CharacterEdit>& text) {
  std::vector<CharacterEdit> out;
  out.reserve(text.size());
  std::size_t starter = text.size();  // in `out`; none before the first one
  int last_class = -1;                // of the marks behind the starter that stay; -1 is none
  for (const CharacterEdit& one : text) {
    const int own = combining_class(one.character);
    if (starter < out.size() && last_class < own) {
      const char32_t pair = composed_pair(out[starter].character, one.character);
      if (pair != 0) {
        out[starter] = {pair, out[starter].change + one.change - 1};
        continue;
      }
    }
    if (own == 0) {
      starter = out.size();
      last_class = -1;
    } else {
      last_class = own;
    }
    out.push_back(one);
  }
  return out;
}

bool is_below(const std::string& text, char32_t limit) {
  bool below = true;
  for_each_character_of(text, [&](char32_t c, std::size_t, std::size_t) { below = below && c < limit; });
  return below;
}

}  // namespace

void normalize_unicode(AlignedText& text, UnicodeForm form) {
  const bool compatible = form == UnicodeForm::nfkc || form == UnicodeForm::nfkd;
  const bool composes = form == UnicodeForm::nfc || form == UnicodeForm::nfkc;
  // No character below these limits changes.
  if (is_below(text.text, compatible ? 0xA0 : composes ? 0x300 : 0xC0)) return;
  std::vector<CharacterEdit> edits = decomposed(text.text, compatible);
  text.edit(composes ? composed(edits) : edits);
}

}  // namespace mezzo::detail
