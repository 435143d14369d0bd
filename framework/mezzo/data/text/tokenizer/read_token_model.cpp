#include <cmath>

#include <mezzo/data/text/tokenizer/part_reader.hpp>
#include <mezzo/data/text/tokenizer/read_parts.hpp>

namespace mezzo::detail {
namespace {

using Json = nlohmann::json;

TokenVocabulary read_vocabulary(JsonFields& fields) {
  const Json& vocab = fields.member("vocab");
  if (!vocab.is_object()) fields.refuse("vocab", "an object of tokens and ids");
  TokenVocabulary out;
  for (const auto& [token, id] : vocab.items()) {
    if (!id.is_number_unsigned()) {
      fail<FileError>(fields.where(), "{}: the id of \"{}\" must be an integer; got {}", fields.path("vocab"), token,
                      id.type_name());
    }
    out.add(token, id.get<std::uint64_t>(), fields.where());
  }
  return out;
}

/// `"a b"`, or in newer files `["a", "b"]`.
std::pair<std::string, std::string> read_merge(const Json& merge, const JsonFields& fields) {
  if (merge.is_string()) {
    const std::string text = merge.get<std::string>();
    const std::size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
      return {text.substr(0, space), text.substr(space + 1)};
    }
  } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  }
  fields.refuse("merges", "a list of two tokens each");
}

TokenModelPtr read_bpe(JsonFields& fields) {
  BpeOptions options;
  if (fields.has("dropout") && fields.member("dropout") != Json(0.0)) {
    fields.refuse("dropout", "0 or null, since random tokens are not supported");
  }
  if (fields.has("unk_token")) options.unk_token = fields.text("unk_token");
  options.continuing_subword_prefix = fields.text("continuing_subword_prefix", "");
  options.end_of_word_suffix = fields.text("end_of_word_suffix", "");
  options.fuse_unk = fields.flag("fuse_unk", false);
  options.byte_fallback = fields.flag("byte_fallback", false);
  options.ignore_merges = fields.flag("ignore_merges", false);
  TokenVocabulary vocabulary = read_vocabulary(fields);
  const Json& merges = fields.member("merges");
  if (!merges.is_array()) fields.refuse("merges", "a list");
  for (const Json& one : merges) options.merges.push_back(read_merge(one, fields));
  return bpe_model(std::move(vocabulary), options, fields.where());
}

TokenModelPtr read_word_piece(JsonFields& fields) {
  WordPieceOptions options;
  options.unk_token = fields.text("unk_token");
  options.continuing_subword_prefix = fields.text("continuing_subword_prefix");
  options.max_input_chars_per_word = static_cast<std::size_t>(fields.count("max_input_chars_per_word"));
  return word_piece_model(read_vocabulary(fields), options);
}

TokenModelPtr read_word_level(JsonFields& fields) {
  const std::string unk_token = fields.text("unk_token");
  return word_level_model(read_vocabulary(fields), unk_token);
}

TokenModelPtr read_unigram(JsonFields& fields) {
  const Json& vocab = fields.member("vocab");
  if (!vocab.is_array()) fields.refuse("vocab", "a list of tokens and scores");
  TokenVocabulary vocabulary;
  std::vector<double> scores;
  for (const Json& one : vocab) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_string() || !one[1].is_number() ||
        !std::isfinite(one[1].get<double>())) {
      fields.refuse("vocab", "a list of tokens and finite scores");
    }
    vocabulary.add(one[0].get<std::string>(), scores.size(), fields.where());
    scores.push_back(one[1].get<double>());
  }
  std::optional<std::uint32_t> unk_id;
  if (fields.has("unk_id")) {
    if (scores.empty()) fields.refuse("unk_id", "null for an empty vocabulary");
    unk_id = static_cast<std::uint32_t>(fields.count("unk_id", static_cast<std::int64_t>(scores.size()) - 1));
  }
  return unigram_model(std::move(vocabulary), std::move(scores), unk_id, fields.flag("byte_fallback", false));
}

constexpr PartReader<TokenModelPtr> model_readers[] = {
    {"BPE", read_bpe},
    {"Unigram", read_unigram},
    {"WordLevel", read_word_level},
    {"WordPiece", read_word_piece},
};

/// Reader of the model in a file from before 2020, which has no type.
TokenModelPtr read_by_members(JsonFields& fields) {
  const Json& all = fields.all();
  auto* read = all.contains("merges")                             ? read_bpe
               : all.contains("max_input_chars_per_word")         ? read_word_piece
               : all.contains("vocab") && all["vocab"].is_array() ? read_unigram
                                                                  : read_word_level;
  TokenModelPtr model = read(fields);
  fields.done();
  return model;
}

}  // namespace

TokenModelPtr read_token_model(JsonFields fields) {
  return fields.has("type") ? read_part(fields, "model", model_readers) : read_by_members(fields);
}

}  // namespace mezzo::detail
