#pragma once
#include <memory>

#include <mezzo/data/text/tokenizer/pieces.hpp>

namespace mezzo::detail {

/// Divides a text into pieces, which a model turns into tokens one by one. Thread-safe.
class PreTokenizer {
 public:
  PreTokenizer() = default;
  PreTokenizer(const PreTokenizer&) = delete;
  PreTokenizer& operator=(const PreTokenizer&) = delete;
  virtual ~PreTokenizer() = default;
  virtual void apply(Pieces& pieces) const = 0;
};

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

/// Texts before which Metaspace puts its character.
enum class PrependScheme { always, first, never };

PreTokenizerPtr bert_pre_tokenizer();
PreTokenizerPtr whitespace_pre_tokenizer();
PreTokenizerPtr whitespace_split_pre_tokenizer();
PreTokenizerPtr punctuation_pre_tokenizer(SplitBehavior behavior);
PreTokenizerPtr digits_pre_tokenizer(bool individual_digits);
PreTokenizerPtr fixed_length_pre_tokenizer(std::size_t length);
PreTokenizerPtr delimiter_pre_tokenizer(char32_t delimiter);
PreTokenizerPtr split_pre_tokenizer(TextPattern pattern, SplitBehavior behavior, bool invert);
PreTokenizerPtr metaspace_pre_tokenizer(char32_t replacement, PrependScheme scheme, bool split);

/// `pattern` divides the text unless it is empty: byte-level BPE without a pattern follows another pre-tokenizer.
PreTokenizerPtr byte_level_pre_tokenizer(bool add_prefix_space, std::optional<TextPattern> pattern);

PreTokenizerPtr pre_tokenizer_sequence(std::vector<PreTokenizerPtr> pre_tokenizers);

}  // namespace mezzo::detail
