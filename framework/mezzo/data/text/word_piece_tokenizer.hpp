#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

struct WordPieceTokenizerOptions {
  /// Whether texts are taken in lower case and without accents, as the *uncased* models have it.
  bool lowercase = true;
};

struct EncodeOptions {
  /// Second texts, one for each text; none encodes single texts.
  std::vector<std::string> text_pairs{};
  /// Ids of a row, special tokens included, beyond which a text is cut at its end; 0 cuts nothing. Of a pair, the
  /// longer text is cut first, and both to equal lengths where that is not enough.
  std::int64_t max_length = 0;
  /// "longest": rows are as long as the longest of them; "max_length": as long as that.
  std::string padding = "longest";
};

/// Texts as a transformer takes them: int64 tensors (texts, length).
struct Encoding {
  Tensor input_ids{};
  /// 1 for tokens, 0 for padding.
  Tensor attention_mask{};
  /// 1 for the second text of a pair and the [SEP] after it, otherwise 0.
  Tensor token_type_ids{};
};

/// BERT's tokenizer (Devlin et al., 2018; WordPiece: Wu et al., 2016), token by token like Hugging Face's
/// `BertTokenizerFast`. A text is cleaned and cut at white space, punctuation and CJK ideographs; each word becomes
/// the longest pieces of the vocabulary from left to right, those after the first with `##` in front. A word that has
/// none, or more than 100 characters, becomes [UNK]. [CLS], [SEP], [PAD], [UNK] and [MASK] in a text are those tokens.
/// What is not valid UTF-8 is dropped byte by byte, as U+FFFD is. Some 600 characters of Unicode 9 and later count as
/// marks, punctuation or controls here and as letters there, whose tables are those of Unicode 8. A copy shares the
/// vocabulary.
///
/// ```cpp
/// const WordPieceTokenizer tokenizer("all-MiniLM-L6-v2/vocab.txt");
/// const Encoding batch = tokenizer.encode_batch(texts, {.max_length = 128});
/// ```
class WordPieceTokenizer {
 public:
  using Ids = std::vector<std::int64_t>;

  /// Reads a `vocab.txt`: one token a line, whose id is the line's number from 0 on. A FileError that names the file if
  /// it can't be read, a token comes twice, or [PAD], [UNK], [CLS] or [SEP] is missing. An Error if mezzo was built
  /// without utf8proc.
  explicit WordPieceTokenizer(const std::string& vocab_file, const WordPieceTokenizerOptions& options = {});

  /// [CLS] text [SEP].
  Ids encode(const std::string& text) const;

  /// [CLS] text [SEP] text_pair [SEP].
  Ids encode(const std::string& text, const std::string& text_pair) const;

  /// Several texts, cut and padded to a common length. A ValueError if max_length has no room for the special tokens,
  /// is missing for "max_length", the number of text_pairs is neither 0 nor that of the texts, or padding is neither
  /// of its names.
  Encoding encode_batch(const std::vector<std::string>& texts, const EncodeOptions& options = {}) const;

  /// The text of ids, as Hugging Face joins them: pieces to words, words with single spaces, but with none in front of
  /// `. , ! ?`. A ValueError if an id is not in the vocabulary.
  std::string decode(const Ids& ids, bool skip_special_tokens = true) const;

  /// Number of tokens.
  std::int64_t vocab_size() const;

  /// A token's id; a NameError if the vocabulary does not have it.
  std::int64_t token_to_id(const std::string& token) const;

  /// An id's token; a ValueError if it is not in the vocabulary.
  const std::string& id_to_token(std::int64_t id) const;

 private:
  struct Vocabulary;
  Ids pieces_of(const std::string& text) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace mezzo
