#include <array>

#include <mezzo/core/base64.hpp>
#include <mezzo/data/text/tokenizer/normalizers.hpp>
#include <mezzo/data/text/tokenizer/part_reader.hpp>
#include <mezzo/data/text/tokenizer/read_parts.hpp>

namespace mezzo::detail {
namespace {

std::string read_base64(const JsonFields& fields, const std::string& name, const std::string& text) {
  const std::string_view digits = std::string_view(text).substr(0, text.find_last_not_of('=') + 1);
  auto bytes = decode_base64(digits);
  if (!bytes) fields.refuse(name, "in base64");
  if (text.size() % 4 != 0 || text.size() - digits.size() > 2) fields.refuse(name, "in base64, with its padding");
  return *std::move(bytes);
}

NormalizerPtr read_bert(JsonFields& fields) {
  BertCleaning options;
  options.clean_text = fields.flag("clean_text");
  options.handle_chinese_chars = fields.flag("handle_chinese_chars");
  if (fields.has("strip_accents")) options.strip_accents = fields.flag("strip_accents");
  options.lowercase = fields.flag("lowercase");
  return bert_normalizer(options);
}

NormalizerPtr read_strip(JsonFields& fields) {
  const bool left = fields.flag("strip_left");
  return strip_normalizer(left, fields.flag("strip_right"));
}

NormalizerPtr read_precompiled(JsonFields& fields) {
  const char* name = "precompiled_charsmap";
  return precompiled_normalizer(read_base64(fields, name, fields.text(name)),
                                fields.where() + " " + fields.path(name) + ":");
}

NormalizerPtr read_replacing(JsonFields& fields) {
  TextPattern pattern = read_text_pattern(fields.object("pattern"));
  return replace_normalizer(std::move(pattern), fields.text("content"));
}

NormalizerPtr read_normalizers(JsonFields& fields) {
  return normalizer_sequence(read_list<NormalizerPtr>(fields, "normalizers", read_normalizer));
}

template <UnicodeForm form>
NormalizerPtr read_form(JsonFields&) {
  return unicode_normalizer(form);
}

constexpr PartReader<NormalizerPtr> normalizer_readers[] = {
    {"BertNormalizer", read_bert},
    {"ByteLevel", [](JsonFields&) { return byte_level_normalizer(); }},
    {"Lowercase", [](JsonFields&) { return lowercase_normalizer(); }},
    {"NFC", read_form<UnicodeForm::nfc>},
    {"NFD", read_form<UnicodeForm::nfd>},
    {"NFKC", read_form<UnicodeForm::nfkc>},
    {"NFKD", read_form<UnicodeForm::nfkd>},
    {"Nmt", [](JsonFields&) { return nmt_normalizer(); }},
    {"Precompiled", read_precompiled},
    {"Prepend", [](JsonFields& fields) { return prepend_normalizer(fields.text("prepend")); }},
    {"Replace", read_replacing},
    {"Sequence", read_normalizers},
    {"Strip", read_strip},
    {"StripAccents", [](JsonFields&) { return strip_accents_normalizer(); }},
};

}  // namespace

NormalizerPtr read_normalizer(JsonFields fields) { return read_part(fields, "normalizer", normalizer_readers); }

}  // namespace mezzo::detail
