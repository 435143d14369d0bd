#include <mezzo/data/text/tokenizer/aligned_text.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t longest_normalized = std::size_t{1} << 30U;  // in bytes; places have 32 bits

}  // namespace

AlignedText AlignedText::emptied() const {
  AlignedText out;
  out.begin = begin;
  out.most_bytes = most_bytes;
  out.text.reserve(text.size());
  out.alignment.reserve(alignment.size());
  return out;
}

void AlignedText::check_growth(std::size_t more) const {
  if (most_bytes == 0 || text.size() + more <= most_bytes) return;
  fail<ValueError>("[Tokenizer]", "a normalized text must have at most {} bytes; got {}", most_bytes,
                   text.size() + more);
}

void AlignedText::append(char32_t c, ByteRange range) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else {
    append_utf8(text, c);
  }
  alignment.resize(text.size(), range);
}

void AlignedText::append(std::string_view bytes, ByteRange range) {
  check_growth(bytes.size());
  text += bytes;
  alignment.resize(text.size(), range);
}

void AlignedText::append(const AlignedText& other, std::size_t from, std::size_t to) {
  text.append(other.text, from, to - from);
  const auto first = other.alignment.begin();
  alignment.insert(alignment.end(), first + static_cast<std::ptrdiff_t>(from), first + static_cast<std::ptrdiff_t>(to));
}

void AlignedText::edit(const std::vector<CharacterEdit>& edits) {
  if (empty()) return;
  AlignedText out = emptied();
  std::size_t at = 0;  // of the next character that is replaced
  const auto skip = [&] {
    if (at < text.size()) at += character_length(text[at]);
  };
  for (const CharacterEdit& one : edits) {
    const std::size_t source = one.change > 0 ? at - 1 : std::min(at, text.size() - 1);
    const ByteRange range = one.change > 0 && at == 0 ? ByteRange{begin, begin} : alignment[source];
    out.append(one.character, range);
    for (std::int64_t i = one.change; i <= 0; ++i) skip();
  }
  *this = std::move(out);
}

void AlignedText::prepend(std::string_view bytes) {
  if (empty()) return;
  check_growth(bytes.size());
  text.insert(0, bytes);
  const ByteRange first = alignment.front();
  alignment.insert(alignment.begin(), bytes.size(), first);
}

AlignedText aligned(std::string_view text, std::uint32_t begin) {
  AlignedText out;
  out.text = text;
  out.begin = begin;
  out.most_bytes = std::min(4096 + 64 * text.size(), longest_normalized);
  out.alignment.resize(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text[at]);
    const auto from = begin + static_cast<std::uint32_t>(at);
    for (std::size_t i = 0; i < length; ++i) out.alignment[at + i] = {from, from + static_cast<std::uint32_t>(length)};
    at += length;
  }
  return out;
}

}  // namespace mezzo::detail
