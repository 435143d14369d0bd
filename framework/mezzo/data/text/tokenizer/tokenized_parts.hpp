#pragma once
#include <mezzo/data/text/tokenized_text.hpp>
#include <mezzo/data/text/tokenizer_options.hpp>

namespace mezzo::detail {

/// Tokens that a tokenizer adds.
struct AddedPart {
  std::vector<std::int64_t> ids;
  std::vector<std::string> tokens;
  std::int64_t type_id = 0;
};

/// Appends a token of a text.
void append_token(TokenizedText& text, std::int64_t id, std::string token,
                  std::pair<std::int64_t, std::int64_t> offsets, std::int64_t word, std::int64_t type_id);

/// The added tokens as a text.
TokenizedText text_of(const AddedPart& part);

/// Appends `more`. Its overflowing parts are combined with those of `text`.
void append_text(TokenizedText& text, const TokenizedText& more);

/// Cuts a text, or a pair if `second` is not null, to `most` tokens. Throws a ValueError if the options don't allow it.
void truncate_texts(TokenizedText& first, TokenizedText* second, std::int64_t most, const TruncationOptions& options);

/// Length to which texts with at most `longest` tokens are padded.
std::int64_t padded_length(std::int64_t longest, const PaddingOptions& options);

/// Pads a text and its overflowing parts; longer ones stay.
void pad_text(TokenizedText& text, std::int64_t length, const PaddingOptions& options);

/// Throw a ValueError that starts with `where` for invalid options.
void check_truncation(const TruncationOptions& options, const std::string& where);
void check_padding(const PaddingOptions& options, const std::string& where);

}  // namespace mezzo::detail
