#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/data/text/tokenizer/text_pattern.hpp>

namespace mezzo::detail {

/// Changes a list of tokens to parts of a text. Thread-safe.
class TokenDecoder {
 public:
  TokenDecoder() = default;
  TokenDecoder(const TokenDecoder&) = delete;
  TokenDecoder& operator=(const TokenDecoder&) = delete;
  virtual ~TokenDecoder() = default;
  virtual void apply(std::vector<std::string>& tokens) const = 0;
};

using TokenDecoderPtr = std::unique_ptr<const TokenDecoder>;

TokenDecoderPtr byte_level_decoder();
TokenDecoderPtr word_piece_decoder(std::string prefix, bool cleanup);
TokenDecoderPtr metaspace_decoder(char32_t replacement, bool drops_first);
TokenDecoderPtr bpe_decoder(std::string suffix);
TokenDecoderPtr byte_fallback_decoder();
TokenDecoderPtr fuse_decoder();
TokenDecoderPtr strip_decoder(char32_t content, std::size_t start, std::size_t stop);
TokenDecoderPtr replace_decoder(TextPattern pattern, std::string content);
TokenDecoderPtr ctc_decoder(std::string pad_token, std::string word_delimiter_token, bool cleanup);
TokenDecoderPtr decoder_sequence(std::vector<TokenDecoderPtr> decoders);

}  // namespace mezzo::detail
