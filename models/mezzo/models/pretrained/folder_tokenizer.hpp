#pragma once
#include <optional>
#include <string>

#include <mezzo/data/text/tokenizer.hpp>

namespace mezzo::detail {

/// Tokenizer of a folder of transformers: of tokenizer.json or, if `has_word_pieces`, of the vocab.txt of BERT's
/// tokenizer. It pads as tokenizer_config.json or special_tokens_map.json say. Empty if the folder has neither; a
/// warning names the file of another tokenizer. Throws FileErrors that name the file.
std::optional<Tokenizer> tokenizer_in(const std::string& folder, bool has_word_pieces);

}  // namespace mezzo::detail
