#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mezzo {

/// A token for each character (code point) of a corpus: ids 0, 1, ... in the order of the code points.
class CharTokenizer {
 public:
  using Ids = std::vector<std::int64_t>;

  /// The vocabulary is the distinct characters of `corpus`. A ValueError that names the byte if it is not UTF-8.
  explicit CharTokenizer(std::string_view corpus);

  /// One id a character. A ValueError that names character and place if the corpus did not have it, or if the text is
  /// not UTF-8.
  Ids encode(std::string_view text) const;

  /// A ValueError if an id is not in the vocabulary.
  std::string decode(const Ids& ids) const;

  /// Number of distinct characters.
  std::int64_t vocab_size() const { return static_cast<std::int64_t>(characters_.size()); }

  /// The vocabulary as a text, from which an equal tokenizer can be made.
  std::string vocabulary() const;

 private:
  std::u32string characters_;
  std::unordered_map<char32_t, std::int64_t> ids_;
};

}  // namespace mezzo
