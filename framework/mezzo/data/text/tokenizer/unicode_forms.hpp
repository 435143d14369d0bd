#pragma once
#include <mezzo/data/text/tokenizer/aligned_text.hpp>

namespace mezzo::detail {

/// Unicode's normalization forms (Unicode Standard Annex 15).
enum class UnicodeForm { nfc, nfd, nfkc, nfkd };

/// Normalizes a text. A composed character comes from its first character, a decomposed one from its composed one.
void normalize_unicode(AlignedText& text, UnicodeForm form);

}  // namespace mezzo::detail
