#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Tokenizer with one token per character (code point) of a corpus. Ids are 0, 1, ... in the order of the code points.
class MEZZO_API CharTokenizer {
 public:
  using Ids = std::vector<std::int64_t>;  ///< token ids of one text

  /// Takes the distinct characters of `corpus` as the vocabulary. Throws a ValueError that names the byte if `corpus`
  /// is not UTF-8.
  explicit CharTokenizer(std::string_view corpus);

  /// Returns one id per character. Throws a ValueError if the text is not UTF-8 or if a character is not in the
  /// vocabulary; it names the character and its byte offset.
  Ids encode(std::string_view text) const;

  /// Returns the text of ids. Throws a ValueError if an id is not in the vocabulary.
  std::string decode(const Ids& ids) const;

  /// Number of distinct characters.
  std::int64_t vocab_size() const { return static_cast<std::int64_t>(characters_.size()); }

  /// Returns all characters of the vocabulary in the order of their ids. A tokenizer built from this text is equal.
  std::string vocabulary() const;

 private:
  std::u32string characters_;  // by id
  std::unordered_map<char32_t, std::int64_t> ids_;
};

}  // namespace mezzo
