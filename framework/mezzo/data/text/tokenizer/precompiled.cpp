#include <optional>

#include <utf8proc.h>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>
#include <mezzo/data/text/tokenizer/normalizers.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t longest_cluster = 6;  // in bytes; longer ones are replaced by character

/// SentencePiece's map of characters: a double-array trie of 32-bit units (Darts-clone) and texts that end with zeros.
class CharacterMap {
 public:
  CharacterMap(const std::string& bytes, const std::string& where) {
    const auto number = [&](std::size_t at) {
      std::uint32_t value = 0;
      for (std::size_t i = 4; i > 0; --i) value = (value << 8U) | static_cast<unsigned char>(bytes[at + i - 1]);
      return value;
    };
    const std::size_t size = bytes.size() < 4 ? 0 : number(0);
    if (size < 4 || size > bytes.size() - 4) {
      fail<FileError>(where, "precompiled_charsmap must hold its trie; got {} bytes for a trie of {}", bytes.size(),
                      size);
    }
    for (std::size_t i = 0; i < size / 4; ++i) units_.push_back(number(4 + 4 * i));
    texts_ = bytes.substr(4 + size / 4 * 4);
    if (!is_utf8(texts_)) fail<FileError>(where, "the texts of precompiled_charsmap must be UTF-8");
  }

  /// Replacement of the shortest prefix of `text` that has one.
  std::optional<std::string_view> find(std::string_view text) const {
    std::size_t node = offset(units_[0]);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      node ^= byte;
      if (byte == 0 || node >= units_.size()) return std::nullopt;
      const std::uint32_t unit = units_[node];
      if ((unit & 0x800000FFU) != byte) return std::nullopt;
      node ^= offset(unit);
      if ((unit >> 8U & 1U) == 0) continue;
      return node < units_.size() ? replacement(units_[node] & 0x7FFFFFFFU) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  static std::size_t offset(std::uint32_t unit) {
    return static_cast<std::size_t>(unit >> 10U) << ((unit & 0x200U) >> 6U);
  }

  std::optional<std::string_view> replacement(std::size_t begin) const {
    if (begin > texts_.size()) return std::nullopt;
    if (begin < texts_.size() && (static_cast<unsigned char>(texts_[begin]) & 0xC0U) == 0x80) return std::nullopt;
    const std::size_t end = std::min(texts_.find('\0', begin), texts_.size());
    return std::string_view(texts_).substr(begin, end - begin);
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

std::int64_t count_characters(std::string_view text) {
  std::int64_t count = 0;
  for_each_character_of(text, [&](char32_t, std::size_t, std::size_t) { ++count; });
  return count;
}

/// Edits that replace `old` by `now`.
void add_replacement(std::string_view old, std::string_view now, std::vector<CharacterEdit>& edits) {
  for_each_character_of(now, [&](char32_t c, std::size_t, std::size_t) { edits.push_back({c, 0}); });
  const std::int64_t more = count_characters(now) - count_characters(old);
  for (std::int64_t i = 0; i < more; ++i) edits[edits.size() - 1 - static_cast<std::size_t>(i)].change = 1;
  if (more < 0 && !edits.empty()) edits.back().change += more;
}

/// Calls use(begin, end) for each extended grapheme cluster.
template <class Use>
void for_each_cluster(std::string_view text, Use&& use) {
  std::size_t begin = 0;
  utf8proc_int32_t last = -1;
  utf8proc_int32_t state = 0;
  for_each_character_of(text, [&](char32_t c, std::size_t at, std::size_t) {
    const auto now = static_cast<utf8proc_int32_t>(c);
    if (last >= 0 && utf8proc_grapheme_break_stateful(last, now, &state) != 0) {
      use(begin, at);
      begin = at;
    }
    last = now;
  });
  if (begin < text.size()) use(begin, text.size());
}

class PrecompiledNormalizer final : public Normalizer {
 public:
  PrecompiledNormalizer(const std::string& charsmap, const std::string& where) : map_(charsmap, where) {}

  void apply(AlignedText& text) const override {
    std::vector<CharacterEdit> edits;
    edits.reserve(text.text.size());
    bool changed = false;
    for_each_cluster(text.text, [&](std::size_t begin, std::size_t end) {
      const std::string_view cluster = std::string_view(text.text).substr(begin, end - begin);
      if (cluster.size() < longest_cluster) {
        if (const auto now = map_.find(cluster)) {
          changed = true;
          return add_replacement(cluster, *now, edits);
        }
      }
      for_each_character_of(cluster, [&](char32_t c, std::size_t from, std::size_t to) {
        const auto now = map_.find(cluster.substr(from, to - from));
        if (!now) return edits.push_back({c, 0});
        changed = true;
        add_replacement(cluster.substr(from, to - from), *now, edits);
      });
    });
    if (changed) text.edit(edits);
  }

 private:
  CharacterMap map_;
};

}  // namespace

NormalizerPtr precompiled_normalizer(const std::string& charsmap, const std::string& where) {
  return std::make_unique<PrecompiledNormalizer>(charsmap, where);
}

}  // namespace mezzo::detail
