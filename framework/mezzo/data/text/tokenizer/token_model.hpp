#pragma once
#include <memory>

#include <mezzo/data/text/tokenizer/vocabulary.hpp>

namespace mezzo::detail {

/// A token of a piece: its id, and the bytes [begin, end) of the piece.
struct ModelToken {
  std::uint32_t id = 0;
  std::uint32_t begin = 0, end = 0;
  bool is_literal = false;   ///< the token's text is that of the piece: an unknown token of a Unigram model
  bool begins_word = false;  ///< of a model that finds words itself
};

/// Turns pieces into tokens. Thread-safe.
class TokenModel {
 public:
  explicit TokenModel(TokenVocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;

  /// Appends the tokens of a piece, which is not empty. Throws a ValueError if a part has no token and there is no
  /// unknown token.
  virtual void tokenize(std::string_view piece, std::vector<ModelToken>& out) const = 0;

  const TokenVocabulary& vocabulary() const { return vocabulary_; }

 private:
  TokenVocabulary vocabulary_;
};

using TokenModelPtr = std::unique_ptr<const TokenModel>;

/// Options of a BPE model (Sennrich et al., 2015).
struct BpeOptions {
  std::vector<std::pair<std::string, std::string>> merges{};
  std::optional<std::string> unk_token{};
  std::string continuing_subword_prefix{};
  std::string end_of_word_suffix{};
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};

/// Throws a FileError that starts with `where` if a merge has a token that is not in the vocabulary.
TokenModelPtr bpe_model(TokenVocabulary vocabulary, const BpeOptions& options, const std::string& where);

/// Options of a WordPiece model (Wu et al., 2016).
struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::size_t max_input_chars_per_word = 100;
};

TokenModelPtr word_piece_model(TokenVocabulary vocabulary, const WordPieceOptions& options);

TokenModelPtr word_level_model(TokenVocabulary vocabulary, const std::string& unk_token);

/// Unigram model (Kudo, 2018). `scores` are the log probabilities by id.
TokenModelPtr unigram_model(TokenVocabulary vocabulary, std::vector<double> scores, std::optional<std::uint32_t> unk_id,
                            bool byte_fallback);

/// Id of the token of a byte, `<0x0A>`, or none.
std::optional<std::uint32_t> byte_token(const TokenVocabulary& vocabulary, unsigned char byte);

}  // namespace mezzo::detail
