#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mezzo::detail {

/// Splits a text into words as BERT's BasicTokenizer does (BertNormalizer and BertPreTokenizer of Hugging Face's
/// `tokenizers`). Control, format and private-use characters and U+FFFD are dropped. Each CJK ideograph and each
/// punctuation character is a word of its own. White space separates words.
///
/// `lowercase` also strips accents: it decomposes canonically and drops nonspacing marks. Hangul syllables are
/// decomposed too.
std::vector<std::u32string> bert_words(std::string_view text, bool lowercase);

}  // namespace mezzo::detail
