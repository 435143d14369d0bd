#pragma once
#include <mezzo/data/text/tokenizer/json_fields.hpp>
#include <mezzo/data/text/tokenizer/post_processors.hpp>
#include <mezzo/data/text/tokenizer/pre_tokenizers.hpp>
#include <mezzo/data/text/tokenizer/text_normalizer.hpp>
#include <mezzo/data/text/tokenizer/token_decoders.hpp>
#include <mezzo/data/text/tokenizer/token_model.hpp>

// Parts of a tokenizer.json. Errors name the member; unknown types and members are errors.

namespace mezzo::detail {

NormalizerPtr read_normalizer(JsonFields fields);
PreTokenizerPtr read_pre_tokenizer(JsonFields fields);
TokenModelPtr read_token_model(JsonFields fields);
PostProcessorPtr read_post_processor(JsonFields fields);
TokenDecoderPtr read_token_decoder(JsonFields fields);

/// Pattern of `{"String": text}` or `{"Regex": expression}`.
TextPattern read_text_pattern(JsonFields fields);

}  // namespace mezzo::detail
