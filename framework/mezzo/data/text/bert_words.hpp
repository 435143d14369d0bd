#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mezzo::detail {

// Throws an Error that starts with `where` if mezzo was built without utf8proc, which bert_words() needs.
void require_unicode(const std::string& where);

// What BERT's BasicTokenizer makes of a text: the words that WordPiece cuts further. As Hugging Face's `tokenizers`
// has it (BertNormalizer, BertPreTokenizer): control, format and private-use characters and U+FFFD are dropped, CJK
// ideographs and punctuation stand alone, white space separates. `lowercase` also strips accents: canonical
// decomposition without nonspacing marks, which takes Hangul syllables apart too.
std::vector<std::u32string> bert_words(std::string_view text, bool lowercase);

}  // namespace mezzo::detail
