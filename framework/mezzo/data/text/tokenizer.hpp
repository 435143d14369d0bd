#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/text/encode_options.hpp>
#include <mezzo/data/text/tokenized_text.hpp>
#include <mezzo/data/text/tokenizer_options.hpp>

namespace mezzo {

namespace detail {
struct TokenizerPipeline;
}

/// Options of Tokenizer::encode.
struct EncodeTextOptions {
  /// Second text of a pair; default: a single text.
  std::optional<std::string> text_pair{};
  /// Adds the special tokens of the tokenizer, such as [CLS] and [SEP].
  bool add_special_tokens = true;
};

/// Tokenizer of a Hugging Face model, with the ids, offsets and texts of its library `tokenizers`. A `tokenizer.json`
/// describes normalizers, pre-tokenizers, a BPE, WordPiece, Unigram or WordLevel model, post-processors, decoders,
/// added tokens, truncation and padding. Regular expressions need PCRE2. Models of SentencePiece are read, too.
///
/// Invalid UTF-8 in texts becomes U+FFFD, as by Python's `bytes.decode(errors="replace")`. Characters have the classes
/// of utf8proc's version of Unicode. Copies share the vocabulary. Several threads can encode and decode with one
/// tokenizer at the same time, so loaders can: `texts.map([tokenizer](const Strings& text) { ... })`.
///
/// ```cpp
/// const Tokenizer tokenizer = Tokenizer::from_file("gpt2/tokenizer.json");
/// const TokenizedText tokens = tokenizer.encode("Hello world");
/// const std::string text = tokenizer.decode(tokens.ids);
/// ```
class MEZZO_API Tokenizer {
 public:
  using Ids = std::vector<std::int64_t>;  ///< token ids of one text

  /// Reads a `tokenizer.json`, or a SentencePiece model as from_sentencepiece() without options; the content tells
  /// which. A file has at most 1 GiB. Throws a FileError that names the file and the member if the file can't be read,
  /// is not such a file, or has members or types that are unknown here; so does a BPE model with dropout.
  static Tokenizer from_file(const std::string& path);

  /// Reads a `tokenizer.model` of SentencePiece, with the ids and texts of its library: BPE, unigram, word and
  /// character models. Pieces <s> and </s> are the only special tokens that texts get, by the options. `tokens` has the
  /// text of an unknown character in place of <unk>; a word begins with a piece that begins with ▁. Throws a FileError
  /// that names the file if it can't be read or is not such a file, or if the model lacks a piece of the options.
  /// Throws a FileError if there is no plug-in mezzo_sentencepiece.
  static Tokenizer from_sentencepiece(const std::string& path, const SentencePieceOptions& options = {});

  /// Reads the content of a `tokenizer.json`. Throws as from_file().
  static Tokenizer from_str(const std::string& json);

  /// Returns the content of a `tokenizer.json` with the current truncation and padding. All else is as it was read.
  /// Throws a ValueError for the tokenizer of a SentencePiece model.
  std::string to_str() const;

  /// Writes to_str() to a file, as a whole: after a FileError a previous file is unchanged. Throws a FileError for the
  /// suffix of another format too, such as ".model".
  void save(const std::string& path) const;

  /// Encodes a text or a pair, with the truncation and padding of the file or of enable_truncation() and
  /// enable_padding(). A text has at most 256 MiB. Throws a ValueError if it has a part without a token and the model
  /// has no unknown token, if truncation leaves no room, or if a regular expression takes too long.
  TokenizedText encode(const std::string& text, const EncodeTextOptions& options = {}) const;

  /// Encodes several texts to rows of one length. Throws a ValueError as encode(), if the number of text_pairs is
  /// neither 0 nor the number of texts, if max_length leaves no room for the special tokens or is missing for padding
  /// "max_length", if padding is an unknown name, or if rows need padding and neither the file nor enable_padding() has
  /// any.
  Encoding encode_batch(const std::vector<std::string>& texts, const EncodeOptions& options = {}) const;

  /// Returns the text of ids. Throws a ValueError if an id has no token.
  std::string decode(const Ids& ids, bool skip_special_tokens = true) const;

  /// Cuts texts from now on. Throws a ValueError for invalid options.
  void enable_truncation(const TruncationOptions& options);

  /// Stops cutting texts.
  void no_truncation() { truncation_.reset(); }

  /// Pads texts from now on. Throws a ValueError for invalid options.
  void enable_padding(const PaddingOptions& options = {});

  /// Stops padding texts.
  void no_padding() { padding_.reset(); }

  /// Truncation of texts; none if they are not cut.
  const std::optional<TruncationOptions>& truncation() const { return truncation_; }

  /// Padding of texts; none if they are not padded.
  const std::optional<PaddingOptions>& padding() const { return padding_; }

  /// Number of tokens, added ones included.
  std::int64_t vocab_size() const;

  /// Returns the id of a token. Throws a NameError if there is no such token.
  std::int64_t token_to_id(const std::string& token) const;

  /// Returns the token of an id. Throws a ValueError if the id has no token.
  const std::string& id_to_token(std::int64_t id) const;

 private:
  Tokenizer() = default;
  const detail::TokenizerPipeline& pipeline() const;
  static Tokenizer read(const std::string& json, const std::string& where);
  static Tokenizer read_model(const std::string& bytes, const SentencePieceOptions& options, const std::string& where);

  std::shared_ptr<const detail::TokenizerPipeline> pipeline_;
  std::shared_ptr<const std::string> json_;  // as it was read
  std::optional<TruncationOptions> truncation_;
  std::optional<PaddingOptions> padding_;
};

}  // namespace mezzo
