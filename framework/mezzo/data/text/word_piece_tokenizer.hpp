#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/text/encode_options.hpp>

namespace mezzo {

struct WordPieceTokenizerOptions {
  /// Lowercases texts and strips accents, as *uncased* models expect.
  bool lowercase = true;
};

/// BERT's tokenizer (Devlin et al., 2018; WordPiece: Wu et al., 2016), with the same tokens as Hugging Face's
/// `BertTokenizerFast`. It cleans a text and splits it at white space, punctuation and CJK ideographs. It splits each
/// word from left to right into the longest pieces of the vocabulary; pieces after the first begin with `##`. A word
/// becomes [UNK] if it has no such split or more than 100 characters. [CLS], [SEP], [PAD], [UNK] and [MASK] in a text
/// become these tokens.
///
/// Invalid UTF-8 is dropped, and so is U+FFFD. About 600 characters of Unicode 9 and later are marks,
/// punctuation or controls here. Hugging Face's tables, of Unicode 8, treat them as letters. Copies share the
/// vocabulary.
///
/// ```cpp
/// const WordPieceTokenizer tokenizer("all-MiniLM-L6-v2/vocab.txt");
/// const Encoding batch = tokenizer.encode_batch(texts, {.max_length = 128});
/// ```
class MEZZO_API WordPieceTokenizer {
 public:
  using Ids = std::vector<std::int64_t>;  ///< token ids of one text

  /// Reads a `vocab.txt` with one token per line; the id of a token is its line number, from 0. Throws a FileError that
  /// names the file if it can't be read, if a token occurs twice, or if [PAD], [UNK], [CLS] or [SEP] is missing.
  explicit WordPieceTokenizer(const std::string& vocab_file, const WordPieceTokenizerOptions& options = {});

  /// Returns the ids of `[CLS] text [SEP]`.
  Ids encode(const std::string& text) const;

  /// Returns the ids of `[CLS] text [SEP] text_pair [SEP]`.
  Ids encode(const std::string& text, const std::string& text_pair) const;

  /// Encodes several texts, cut and padded to a common length. Throws a ValueError if the number of text_pairs is
  /// neither 0 nor the number of texts, if max_length leaves no room for the special tokens or is missing for padding
  /// "max_length", or if padding is an unknown name.
  Encoding encode_batch(const std::vector<std::string>& texts, const EncodeOptions& options = {}) const;

  /// Returns the text of ids as Hugging Face joins them: pieces to words, words with single spaces, no space before
  /// `. , ! ?` and contractions (`n't 'm 's 've 're`). Throws a ValueError if an id is not in the vocabulary.
  std::string decode(const Ids& ids, bool skip_special_tokens = true) const;

  /// Number of tokens.
  std::int64_t vocab_size() const;

  /// Returns the id of a token. Throws a NameError if it is not in the vocabulary.
  std::int64_t token_to_id(const std::string& token) const;

  /// Returns the token of an id. Throws a ValueError if it is not in the vocabulary.
  const std::string& id_to_token(std::int64_t id) const;

 private:
  struct Vocabulary;

  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace mezzo
