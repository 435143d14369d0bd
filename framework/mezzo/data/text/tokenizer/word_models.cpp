#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/tokenizer/aligned_text.hpp>
#include <mezzo/data/text/tokenizer/token_model.hpp>
#include <mezzo/data/text/tokenizer/token_trie.hpp>

namespace mezzo::detail {
namespace {

std::uint32_t unknown_id(const TokenVocabulary& vocabulary, const std::string& token) {
  const auto id = vocabulary.find(token);
  if (!id) fail<ValueError>("[Tokenizer]", "the vocabulary must have the unknown token \"{}\"", token);
  return *id;
}

class WordLevelModel final : public TokenModel {
 public:
  WordLevelModel(TokenVocabulary vocabulary_of_model, std::string unk_token)
      : TokenModel(std::move(vocabulary_of_model)), unk_token_(std::move(unk_token)) {}

  void tokenize(std::string_view piece, std::vector<ModelToken>& out) const override {
    const auto id = vocabulary().find(piece);
    out.push_back({id ? *id : unknown_id(vocabulary(), unk_token_), 0, static_cast<std::uint32_t>(piece.size())});
  }

 private:
  std::string unk_token_;
};

class WordPieceModel final : public TokenModel {
 public:
  WordPieceModel(TokenVocabulary vocabulary_of_model, const WordPieceOptions& options)
      : TokenModel(std::move(vocabulary_of_model)),
        unk_token_(options.unk_token),
        most_characters_(options.max_input_chars_per_word) {
    vocabulary().for_each([&](const std::string& token, std::uint32_t id) { trie_.add(token, id); });
    continuing_ = trie_.walk(0, options.continuing_subword_prefix);
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& out) const override {
    const std::size_t before = out.size();
    if (is_short(piece) && add_longest_tokens(piece, out)) return;
    out.resize(before);
    out.push_back({unknown_id(vocabulary(), unk_token_), 0, static_cast<std::uint32_t>(piece.size())});
  }

 private:
  bool is_short(std::string_view piece) const {
    if (piece.size() <= most_characters_) return true;
    std::size_t count = 0;
    for_each_character_of(piece, [&](char32_t, std::size_t, std::size_t) { ++count; });
    return count <= most_characters_;
  }

  /// Appends the longest token of the rest, from left to right; false if a rest has none.
  bool add_longest_tokens(std::string_view piece, std::vector<ModelToken>& out) const {
    for (std::size_t begin = 0; begin < piece.size();) {
      std::uint32_t node = begin == 0 ? 0 : continuing_;
      std::uint32_t longest = TokenTrie::none;
      std::size_t end = begin;
      for (std::size_t at = begin; at < piece.size() && node != TokenTrie::none; ++at) {
        node = trie_.next(node, piece[at]);
        if (node == TokenTrie::none || trie_.token(node) == TokenTrie::none) continue;
        longest = trie_.token(node);
        end = at + 1;
      }
      if (longest == TokenTrie::none) return false;
      out.push_back({longest, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
      begin = end;
    }
    return true;
  }

  std::string unk_token_;
  std::size_t most_characters_;
  TokenTrie trie_;
  std::uint32_t continuing_ = TokenTrie::none;  // node of the prefix of tokens inside a word
};

}  // namespace

TokenModelPtr word_level_model(TokenVocabulary vocabulary, const std::string& unk_token) {
  return std::make_unique<WordLevelModel>(std::move(vocabulary), unk_token);
}

TokenModelPtr word_piece_model(TokenVocabulary vocabulary, const WordPieceOptions& options) {
  return std::make_unique<WordPieceModel>(std::move(vocabulary), options);
}

}  // namespace mezzo::detail
