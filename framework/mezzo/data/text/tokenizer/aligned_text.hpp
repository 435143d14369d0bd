#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mezzo::detail {

/// Bytes [begin, end) of the text that is encoded.
struct ByteRange {
  std::uint32_t begin = 0, end = 0;
};

/// One character of a changed text. `change` 0 replaces the next character, 1 is inserted behind the one before, and
/// -n replaces a character and removes the n after it.
struct CharacterEdit {
  char32_t character = 0;
  std::int64_t change = 0;
};

/// A text and, for each of its bytes, the bytes of the original text that it comes from. The text is valid UTF-8.
struct AlignedText {
  std::string text;
  std::vector<ByteRange> alignment;  ///< one range for each byte of the text
  std::uint32_t begin = 0;           ///< begin in the original text
  std::size_t most_bytes = 0;        ///< longer texts are an error; replacements could multiply them

  bool empty() const { return text.empty(); }

  /// An empty text at the same place, for the changed one.
  AlignedText emptied() const;

  /// Appends a character that comes from `range`.
  void append(char32_t c, ByteRange range);

  /// Appends bytes that come from `range`. Throws a ValueError if the text becomes too long.
  void append(std::string_view bytes, ByteRange range);

  /// Appends a part of another text with its alignment.
  void append(const AlignedText& other, std::size_t from, std::size_t to);

  /// Replaces the whole text.
  void edit(const std::vector<CharacterEdit>& edits);

  /// Puts characters before a text that is not empty. They come from its first character.
  void prepend(std::string_view bytes);

  /// Calls use(out, c, range) for each character, and makes `out` the text.
  template <class Use>
  void rebuild(Use&& use);

 private:
  void check_growth(std::size_t more) const;
};

/// A text that comes from itself, at `begin` of the original text.
AlignedText aligned(std::string_view text, std::uint32_t begin);

/// Length in bytes of the character that starts with this byte of valid UTF-8.
inline std::size_t character_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Code point of a character of valid UTF-8.
inline char32_t character_at(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1) return byte(0);
  char32_t c = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) c = (c << 6U) | (byte(i) & 0x3FU);
  return c;
}

/// Calls use(c, begin, end) for each character of valid UTF-8.
template <class Use>
void for_each_character_of(std::string_view text, Use&& use) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text[at]);
    use(character_at(text, at, length), at, at + length);
    at += length;
  }
}

template <class Use>
void AlignedText::rebuild(Use&& use) {
  AlignedText out = emptied();
  for_each_character_of(text, [&](char32_t c, std::size_t at, std::size_t) { use(out, c, alignment[at]); });
  *this = std::move(out);
}

}  // namespace mezzo::detail
