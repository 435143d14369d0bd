#pragma once
#include <string>

#include <mezzo/data/text/tokenizer/vocabulary.hpp>

namespace mezzo::detail {

/// Reads the vocab.txt of a WordPiece model: a token in each line, whose number is its id. Throws a FileError that
/// starts with `where` for another kind of file, and for a token in two lines.
TokenVocabulary read_vocabulary_file(const std::string& path, const std::string& where);

}  // namespace mezzo::detail
