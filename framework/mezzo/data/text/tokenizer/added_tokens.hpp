#pragma once
#include <array>
#include <set>

#include <mezzo/data/text/tokenizer/pieces.hpp>
#include <mezzo/data/text/tokenizer/text_normalizer.hpp>
#include <mezzo/data/text/tokenizer/token_trie.hpp>
#include <mezzo/data/text/tokenizer/vocabulary.hpp>

namespace mezzo::detail {

/// A token that is found in a text before the model sees it.
struct AddedToken {
  std::string content;
  bool single_word = false;  ///< not inside of a word
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< takes the white space behind it
  bool normalized = true;    ///< found in the normalized text
  bool special = false;      ///< decoding can skip it
};

class AddedTokens {
 public:
  /// Adds a token. Its id is that of the model, or the next free one. `normalizer` may be null. Returns the id; throws
  /// a FileError that starts with `where` if the content, or what becomes of it, is empty.
  std::uint32_t add(const AddedToken& token, const TokenVocabulary& vocabulary, const Normalizer* normalizer,
                    const std::string& where);

  /// Marks a token of the model as special. It is not found in texts.
  void mark_special(const std::string& text) { special_.insert(text); }

  /// Normalizes a text, valid UTF-8, and divides it at the added tokens.
  Pieces extract(std::string_view text, const Normalizer* normalizer) const;

  std::optional<std::uint32_t> find(std::string_view content) const;

  /// Text of an added token, normalized if the token is; null for other ids.
  const std::string* text(std::uint64_t id) const;

  /// True for the content of a special token.
  bool is_special(const std::string& text) const { return special_.count(text) > 0; }

  /// Number of added tokens that the vocabulary of the model lacks.
  std::size_t count_new() const { return new_; }

 private:
  struct Found {
    std::size_t begin, end;
    std::optional<std::uint32_t> token;
  };
  struct Entry {
    AddedToken token;
    std::string text;
    std::uint32_t id = 0;
  };
  /// Texts to find, and the bytes that they start with.
  struct Finder {
    TokenTrie trie;
    std::array<bool, 256> starts{};
    bool is_empty = true;
  };

  const Entry* entry(std::uint64_t id) const;
  std::vector<Found> matches(std::string_view text, const Finder& finder) const;

  std::vector<Entry> entries_;
  FlatMap by_id_;  // index in entries_
  std::set<std::string, std::less<>> special_;
  Finder raw_, normalized_;
  std::size_t new_ = 0;
  std::optional<std::uint32_t> largest_;  // id
};

}  // namespace mezzo::detail
