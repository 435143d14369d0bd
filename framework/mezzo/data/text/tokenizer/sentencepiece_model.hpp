#pragma once
#include <string>

#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/plugin.hpp>
#include <mezzo/data/text/tokenizer/pipeline.hpp>
#include <mezzo/data/text/tokenizer_options.hpp>

namespace mezzo::detail {

/// The plug-in that runs libsentencepiece.
inline constexpr Plugin plugin_of_sentencepiece{
    "mezzo_sentencepiece", environment_variables::sentencepiece_plugin, "mezzo_sentencepiece_functions",
    "a SentencePiece model needs the plug-in mezzo_sentencepiece, which is built where CMake finds libsentencepiece",
    Plugin::Symbols::own};

/// Makes the parts of a tokenizer from the bytes of a SentencePiece model. Throws a FileError that starts with `where`
/// if they are none, or if there is no plug-in mezzo_sentencepiece.
void read_sentencepiece(const std::string& bytes, const SentencePieceOptions& options, const std::string& where,
                        TokenizerPipeline& pipeline);

}  // namespace mezzo::detail
