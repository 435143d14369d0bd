#include <mezzo/data/text/tokenizer/part_reader.hpp>
#include <mezzo/data/text/tokenizer/read_parts.hpp>

namespace mezzo::detail {
namespace {

/// `["[SEP]", 102]`.
SpecialToken read_special_token(JsonFields& fields, const char* name) {
  const nlohmann::json& pair = fields.member(name);
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_unsigned()) {
    fields.refuse(name, "a list of a token and its id");
  }
  return {pair[0].get<std::string>(), pair[1].get<std::int64_t>()};
}

OffsetTrimming read_trimming(JsonFields& fields) {
  OffsetTrimming trimming;
  trimming.trim_offsets = fields.flag("trim_offsets");
  trimming.add_prefix_space = fields.flag("add_prefix_space");
  return trimming;
}

PostProcessorPtr read_bert_processing(JsonFields& fields) {
  const SpecialToken sep = read_special_token(fields, "sep");
  return bert_processing(sep, read_special_token(fields, "cls"));
}

PostProcessorPtr read_roberta_processing(JsonFields& fields) {
  const SpecialToken sep = read_special_token(fields, "sep");
  const SpecialToken cls = read_special_token(fields, "cls");
  return roberta_processing(sep, cls, read_trimming(fields));
}

PostProcessorPtr read_byte_level_processing(JsonFields& fields) {
  fields.flag("use_regex", true);  // of the pre-tokenizer of the same name
  return byte_level_processing(read_trimming(fields));
}

/// The special tokens of a template, by name.
std::map<std::string, AddedPart> read_template_tokens(JsonFields tokens) {
  std::map<std::string, AddedPart> out;
  std::vector<std::string> names;
  for (const auto& [name, value] : tokens.all().items()) names.push_back(name);
  for (const std::string& name : names) {
    JsonFields one = tokens.object(name);
    one.text("id");
    AddedPart part;
    const nlohmann::json& ids = one.member("ids");
    const nlohmann::json& texts = one.member("tokens");
    if (!ids.is_array()) one.refuse("ids", "a list of ids");
    if (!texts.is_array() || texts.size() != ids.size()) one.refuse("tokens", "a list with a text for each id");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!ids[i].is_number_unsigned()) one.refuse("ids", "a list of ids");
      if (!texts[i].is_string()) one.refuse("tokens", "a list of texts");
      part.ids.push_back(ids[i].get<std::int64_t>());
      part.tokens.push_back(texts[i].get<std::string>());
    }
    one.done();
    out.emplace(name, std::move(part));
  }
  return out;
}

TemplatePiece read_template_piece(JsonFields piece, const std::map<std::string, AddedPart>& tokens, bool is_pair) {
  constexpr std::int64_t most_types = 1 << 30;
  TemplatePiece out;
  const bool is_sequence = piece.has("Sequence");
  JsonFields fields = piece.object(is_sequence ? "Sequence" : "SpecialToken");
  piece.done();
  if (is_sequence) {
    const bool second = fields.choice("id", {"A", "B"}) == 1;
    if (second && !is_pair) fields.refuse("id", "A in the template of a single text");
    out.kind = second ? TemplatePiece::Kind::second : TemplatePiece::Kind::first;
  } else {
    const auto found = tokens.find(fields.text("id"));
    if (found == tokens.end()) fields.refuse("id", "one of special_tokens");
    out.kind = TemplatePiece::Kind::added;
    out.added = found->second;
  }
  out.type_id = fields.count("type_id", most_types);
  out.added.type_id = out.type_id;
  fields.done();
  return out;
}

PostProcessorPtr read_template_processing(JsonFields& fields) {
  constexpr std::size_t most_pieces = 64;
  const std::map<std::string, AddedPart> tokens = read_template_tokens(fields.object("special_tokens"));
  const auto read = [&](const char* name) {
    std::vector<TemplatePiece> pieces;
    std::vector<JsonFields> list = fields.objects(name);
    if (list.size() > most_pieces) fields.refuse(name, fmt::format("a list of at most {} pieces", most_pieces));
    for (JsonFields& one : list) pieces.push_back(read_template_piece(std::move(one), tokens, name[0] == 'p'));
    return pieces;
  };
  std::vector<TemplatePiece> single = read("single");
  return template_processing(std::move(single), read("pair"));
}

PostProcessorPtr read_post_processors(JsonFields& fields) {
  return post_processor_sequence(read_list<PostProcessorPtr>(fields, "processors", read_post_processor));
}

constexpr PartReader<PostProcessorPtr> post_processor_readers[] = {
    {"BertProcessing", read_bert_processing},         {"ByteLevel", read_byte_level_processing},
    {"RobertaProcessing", read_roberta_processing},   {"Sequence", read_post_processors},
    {"TemplateProcessing", read_template_processing},
};

}  // namespace

PostProcessorPtr read_post_processor(JsonFields fields) {
  return read_part(fields, "post-processor", post_processor_readers);
}

}  // namespace mezzo::detail
