#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Options of encode_batch().
struct EncodeOptions {
  /// Second texts of pairs, one for each text. Empty: single texts.
  std::vector<std::string> text_pairs{};
  /// Maximal number of ids per row, special tokens included. Longer texts are cut at their end; for a pair, the longer
  /// text is cut first, then both to equal lengths. 0: no limit, or that of the tokenizer's truncation.
  std::int64_t max_length = 0;
  /// Length of the rows: "longest" (the longest row of the batch) or "max_length".
  std::string padding = "longest";
  /// Adds the special tokens of the tokenizer, such as [CLS] and [SEP].
  bool add_special_tokens = true;
};

/// Input of a transformer: int64 tensors of shape (texts, length).
struct Encoding {
  /// Token ids, padded with the id of the padding.
  Tensor input_ids{};
  /// 1 for tokens, 0 for padding.
  Tensor attention_mask{};
  /// 1 for the second text of a pair and the [SEP] after it, otherwise 0; or as the tokenizer's template says.
  Tensor token_type_ids{};
};

}  // namespace mezzo
