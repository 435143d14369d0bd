#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace mezzo {

/// Options of Tokenizer::enable_truncation, in Hugging Face's order.
struct TruncationOptions {
  /// Maximal number of tokens, special tokens included.
  std::int64_t max_length = 512;
  /// Number of tokens that a part of `overflowing` shares with the part before. Less than max_length without special
  /// tokens.
  std::int64_t stride = 0;
  /// Text of a pair that is cut: "longest_first", "only_first" or "only_second".
  std::string strategy = "longest_first";
  /// Side that is cut: "right" or "left".
  std::string direction = "right";
};

/// Options of Tokenizer::enable_padding, in Hugging Face's order.
struct PaddingOptions {
  /// Side that is padded: "right" or "left".
  std::string direction = "right";
  /// Id of the padding.
  std::int64_t pad_id = 0;
  /// Element of type_ids of the padding.
  std::int64_t pad_type_id = 0;
  /// Text of the padding.
  std::string pad_token = "[PAD]";
  /// Length that all texts get at least; default: that of the longest text of a batch.
  std::optional<std::int64_t> length{};
  /// Rounds the length up to a multiple.
  std::optional<std::int64_t> pad_to_multiple_of{};
};

/// Options of Tokenizer::from_sentencepiece.
struct SentencePieceOptions {
  /// Begins each text with the model's piece for that, <s>. Llama's models need it.
  bool add_bos = false;
  /// Ends each text with the model's piece for that, </s>. T5's models need it.
  bool add_eos = false;
};

}  // namespace mezzo
