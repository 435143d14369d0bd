#include <mezzo/data/text/tokenizer/part_reader.hpp>
#include <mezzo/data/text/tokenizer/read_parts.hpp>

namespace mezzo::detail {
namespace {

/// Pattern of GPT-2 (Radford et al., 2019): contractions, words, numbers and other characters, each with a space
/// before.
constexpr const char* gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

SplitBehavior read_behavior(JsonFields& fields) {
  constexpr SplitBehavior behaviors[] = {SplitBehavior::removed, SplitBehavior::isolated,
                                         SplitBehavior::merged_with_previous, SplitBehavior::merged_with_next,
                                         SplitBehavior::contiguous};
  return behaviors[fields.choice("behavior",
                                 {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"})];
}

PreTokenizerPtr read_byte_level_splits(JsonFields& fields) {
  const bool add_prefix_space = fields.flag("add_prefix_space");
  fields.flag("trim_offsets");  // of the post-processor of the same name
  std::optional<TextPattern> pattern;
  if (fields.flag("use_regex", true)) pattern = TextPattern::regex(gpt2_pattern, fields.where());
  return byte_level_pre_tokenizer(add_prefix_space, std::move(pattern));
}

PreTokenizerPtr read_metaspace_splits(JsonFields& fields) {
  constexpr PrependScheme schemes[] = {PrependScheme::always, PrependScheme::first, PrependScheme::never};
  const char32_t replacement = fields.character("replacement");
  PrependScheme scheme = PrependScheme::always;
  if (fields.has("prepend_scheme")) scheme = schemes[fields.choice("prepend_scheme", {"always", "first", "never"})];
  if (!fields.flag("add_prefix_space", true)) {
    if (fields.has("prepend_scheme") && scheme != PrependScheme::never) {
      fields.refuse("add_prefix_space", "true unless prepend_scheme is never");
    }
    scheme = PrependScheme::never;
  }
  fields.text("str_rep", "");  // the replacement, in older files
  return metaspace_pre_tokenizer(replacement, scheme, fields.flag("split", true));
}

PreTokenizerPtr read_split(JsonFields& fields) {
  TextPattern pattern = read_text_pattern(fields.object("pattern"));
  const SplitBehavior behavior = read_behavior(fields);
  return split_pre_tokenizer(std::move(pattern), behavior, fields.flag("invert"));
}

PreTokenizerPtr read_fixed_length(JsonFields& fields) {
  constexpr std::int64_t usual = 5;
  const std::int64_t length = fields.count("length", std::int64_t{1} << 31U, usual);
  if (length == 0) fields.refuse("length", "1 or more");
  return fixed_length_pre_tokenizer(static_cast<std::size_t>(length));
}

PreTokenizerPtr read_punctuation(JsonFields& fields) {
  return punctuation_pre_tokenizer(fields.has("behavior") ? read_behavior(fields) : SplitBehavior::isolated);
}

PreTokenizerPtr read_pre_tokenizers(JsonFields& fields) {
  return pre_tokenizer_sequence(read_list<PreTokenizerPtr>(fields, "pretokenizers", read_pre_tokenizer));
}

constexpr PartReader<PreTokenizerPtr> pre_tokenizer_readers[] = {
    {"BertPreTokenizer", [](JsonFields&) { return bert_pre_tokenizer(); }},
    {"ByteLevel", read_byte_level_splits},
    {"CharDelimiterSplit", [](JsonFields& fields) { return delimiter_pre_tokenizer(fields.character("delimiter")); }},
    {"Digits", [](JsonFields& fields) { return digits_pre_tokenizer(fields.flag("individual_digits")); }},
    {"FixedLength", read_fixed_length},
    {"Metaspace", read_metaspace_splits},
    {"Punctuation", read_punctuation},
    {"Sequence", read_pre_tokenizers},
    {"Split", read_split},
    {"Whitespace", [](JsonFields&) { return whitespace_pre_tokenizer(); }},
    {"WhitespaceSplit", [](JsonFields&) { return whitespace_split_pre_tokenizer(); }},
};

}  // namespace

PreTokenizerPtr read_pre_tokenizer(JsonFields fields) {
  return read_part(fields, "pre-tokenizer", pre_tokenizer_readers);
}

TextPattern read_text_pattern(JsonFields fields) {
  const bool is_regex = fields.has("Regex");
  const std::string text = fields.text(is_regex ? "Regex" : "String");
  fields.done();
  const std::string where = fields.where() + " " + fields.path(is_regex ? "Regex" : "String") + ":";
  return is_regex ? TextPattern::regex(text, where) : TextPattern::literal(text, where);
}

}  // namespace mezzo::detail
