#include <mezzo/data/text/tokenizer/byte_characters.hpp>

#include <array>

#include <mezzo/data/text/tokenizer/characters.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

constexpr char32_t first_other = 0x100;  // for the bytes that are not printable in Latin-1, in their order

bool is_printable_byte(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct ByteTables {
  std::array<char32_t, 256> characters{};
  std::array<std::string, 256> texts{};
  std::array<int, 512> bytes{};  // by character; -1 is none

  ByteTables() {
    bytes.fill(-1);
    char32_t next = first_other;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char32_t c = is_printable_byte(byte) ? byte : next++;
      characters[byte] = c;
      append_utf8(texts[byte], c);
      bytes[c] = static_cast<int>(byte);
    }
  }
};

const ByteTables& byte_tables() {
  static const ByteTables tables;
  return tables;
}

}  // namespace

char32_t character_of_byte(unsigned char byte) { return byte_tables().characters[byte]; }

void append_byte_characters(const AlignedText& text, std::size_t from, std::size_t to, AlignedText& out) {
  const ByteTables& tables = byte_tables();
  for (std::size_t i = from; i < to; ++i) {
    const std::string& one = tables.texts[static_cast<unsigned char>(text.text[i])];
    // A character's first byte gives its alignment; the bytes of an original character have the same one.
    out.append(one, text.alignment[i]);
  }
}

void append_bytes_of_characters(std::string_view token, std::string& out) {
  const std::size_t before = out.size();
  bool known = true;
  for_each_character_of(token, [&](char32_t c, std::size_t, std::size_t) {
    const int byte = c < byte_tables().bytes.size() ? byte_tables().bytes[c] : -1;
    known = known && byte >= 0;
    if (known) out += static_cast<char>(byte);
  });
  if (known) return;
  out.resize(before);
  out += token;
}

bool is_space_of_bytes(char32_t c) { return c == character_of_byte(' ') || is_white_space(c); }

}  // namespace mezzo::detail
