#pragma once
#include <string>

#include <mezzo/data/text/tokenizer/pipeline.hpp>
#include <mezzo/data/text/tokenizer_options.hpp>

namespace mezzo::detail {

/// Makes the parts of a tokenizer from the bytes of a SentencePiece model. Throws a FileError that starts with `where`
/// if they are none, or if there is no plug-in mezzo_sentencepiece.
void read_sentencepiece(const std::string& bytes, const SentencePieceOptions& options, const std::string& where,
                        TokenizerPipeline& pipeline);

}  // namespace mezzo::detail
