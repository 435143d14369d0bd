#pragma once
#include <mezzo/data/text/tokenizer/added_tokens.hpp>
#include <mezzo/data/text/tokenizer/post_processors.hpp>
#include <mezzo/data/text/tokenizer/pre_tokenizers.hpp>
#include <mezzo/data/text/tokenizer/token_decoders.hpp>
#include <mezzo/data/text/tokenizer/token_model.hpp>

namespace mezzo::detail {

/// The parts of a tokenizer. All but the model may be missing. Thread-safe.
struct TokenizerPipeline {
  NormalizerPtr normalizer{};
  PreTokenizerPtr pre_tokenizer{};
  TokenModelPtr model{};
  PostProcessorPtr post_processor{};
  TokenDecoderPtr decoder{};
  AddedTokens added_tokens{};

  /// Tokens of a text, or of a pair if `second` is not null. Invalid UTF-8 becomes U+FFFD.
  TokenizedText encode(std::string_view first, const std::string* second, bool add_special_tokens,
                       const TruncationOptions* truncation) const;

  /// Text of ids. Throws a ValueError that starts with `where` for an id without a token.
  std::string decode(const std::vector<std::int64_t>& ids, bool skip_special_tokens, const std::string& where) const;

  /// Id of a token. Throws a NameError that starts with `where` if there is no such token.
  std::int64_t token_to_id(const std::string& token, const std::string& where) const;

  /// Text of a token. Throws a ValueError that starts with `where` for an id without a token.
  const std::string& id_to_token(std::int64_t id, const std::string& where) const;

  /// Number of tokens, with added ones.
  std::int64_t vocab_size() const;

 private:
  TokenizedText encode_text(std::string_view text, std::int64_t type_id) const;
};

}  // namespace mezzo::detail
