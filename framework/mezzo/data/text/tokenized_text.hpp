#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mezzo {

/// Tokens of a text or of a pair of texts, one element per token in each list: Hugging Face's `Encoding`.
struct TokenizedText {
  std::vector<std::int64_t> ids{};  ///< ids in the vocabulary, with special tokens
  /// 0 for the first text, 1 for the second one, or as the file's template says.
  std::vector<std::int64_t> type_ids{};
  /// Texts of the tokens as the vocabulary has them: `Ġthe`, `##ing`.
  std::vector<std::string> tokens{};
  /// Begin and end in the text, in characters (code points) as in Hugging Face's Python: `text[begin:end]` there. (0,
  /// 0) for special tokens that the tokenizer adds.
  std::vector<std::pair<std::int64_t, std::int64_t>> offsets{};
  /// Number of the word of the text, from 0; -1 for tokens that the tokenizer adds.
  std::vector<std::int64_t> word_ids{};
  /// 1 for tokens that the tokenizer adds, also for padding.
  std::vector<std::int64_t> special_tokens_mask{};
  /// 0 for padding, otherwise 1.
  std::vector<std::int64_t> attention_mask{};
  /// Tokens that truncation cut off, in further parts of the maximal length, which have no overflowing parts.
  std::vector<TokenizedText> overflowing{};
};

}  // namespace mezzo
