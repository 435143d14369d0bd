#pragma once
#include <optional>
#include <string>

#include <mezzo/data/text/tokenizer/text_normalizer.hpp>
#include <mezzo/data/text/tokenizer/text_pattern.hpp>
#include <mezzo/data/text/tokenizer/unicode_forms.hpp>

namespace mezzo::detail {

/// Options of BERT's normalizer.
struct BertCleaning {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents{};  ///< default: as lowercase
  bool lowercase = true;
};

NormalizerPtr bert_normalizer(const BertCleaning& options);
NormalizerPtr unicode_normalizer(UnicodeForm form);
NormalizerPtr lowercase_normalizer();
NormalizerPtr strip_accents_normalizer();
NormalizerPtr strip_normalizer(bool left, bool right);
NormalizerPtr replace_normalizer(TextPattern pattern, std::string content);
NormalizerPtr prepend_normalizer(std::string prefix);
NormalizerPtr nmt_normalizer();
NormalizerPtr byte_level_normalizer();
NormalizerPtr normalizer_sequence(std::vector<NormalizerPtr> normalizers);

/// SentencePiece's compiled map of characters. Throws a FileError that starts with `where` if it is invalid.
NormalizerPtr precompiled_normalizer(const std::string& charsmap, const std::string& where);

}  // namespace mezzo::detail
