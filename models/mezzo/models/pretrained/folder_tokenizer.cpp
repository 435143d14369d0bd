#include <mezzo/models/pretrained/folder_tokenizer.hpp>

#include <algorithm>
#include <map>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/data/text/tokenizer/vocabulary_file.hpp>
#include <mezzo/models/pretrained/folder_files.hpp>

namespace mezzo::detail {
namespace {

constexpr const char *vocabulary_name = "vocab.txt", *pad_token = "pad_token";

std::string place_of_file(const std::string& path) { return fmt::format("[from_pretrained \"{}\"]", path); }

/// Files that describe a tokenizer beside its vocabulary.
class TokenizerConfig {
 public:
  explicit TokenizerConfig(const std::string& folder) {
    for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
      const std::string path = file_in(folder, name), where = place_of_file(path);
      if (is_file(path)) files_.push_back({where, read_json_file(path, where)});
    }
  }

  /// A value with the start of errors about it.
  struct Found {
    const std::string* where;
    const Json* value;
  };

  /// Value of the first file that has the key; none if all lack it or have null.
  std::optional<Found> find(const char* key) const {
    for (const File& file : files_) {
      const auto found = file.json.find(key);
      if (found != file.json.end() && !found->is_null()) return Found{&file.where, &*found};
    }
    return std::nullopt;
  }

  /// Text of a special token, which is a text or an object with one.
  std::string token(const char* key, const std::string& otherwise) const {
    const auto found = find(key);
    if (!found) return otherwise;
    const Json* text = found->value;
    if (text->is_object() && text->contains("content")) text = &text->at("content");
    if (text->is_string() && !text->get_ref<const std::string&>().empty()) return text->get<std::string>();
    fail<FileError>(*found->where, "{} must be a token, or an object with one as \"content\"; got {}", key,
                    excerpt(*found->value));
  }

  std::optional<bool> flag(const char* key) const {
    const auto found = find(key);
    if (!found) return std::nullopt;
    if (!found->value->is_boolean()) {
      fail<FileError>(*found->where, "{} must be true or false; got {}", key, excerpt(*found->value));
    }
    return found->value->get<bool>();
  }

  /// One of some texts; "" if the key is missing.
  std::string choice(const char* key, const std::vector<std::string>& valid) const {
    const auto found = find(key);
    if (!found) return {};
    if (found->value->is_string()) {
      const auto known = std::find(valid.begin(), valid.end(), found->value->get_ref<const std::string&>());
      if (known != valid.end()) return *known;
    }
    fail<FileError>(*found->where, "{} must be {}; got {}", key, fmt::join(valid, " or "), excerpt(*found->value));
  }

 private:
  struct File {
    std::string where;
    Json json;
  };
  std::vector<File> files_;
};

/// Sets the padding that transformers uses if it is told to pad.
void set_padding(const TokenizerConfig& config, const std::string& usual_token, Tokenizer& tokenizer) {
  const std::string side = config.choice("padding_side", {"left", "right"});
  const std::string token = config.token(pad_token, tokenizer.padding() ? tokenizer.padding()->pad_token : usual_token);
  PaddingOptions padding = tokenizer.padding().value_or(PaddingOptions{});
  if (!side.empty()) padding.direction = side;
  if (!tokenizer.padding() || token != padding.pad_token) {
    if (token.empty()) return;
    try {
      padding.pad_id = tokenizer.token_to_id(token);
      padding.pad_token = token;
    } catch (const NameError&) {  // transformers would add it, and the model has no weights for it
      if (const auto found = config.find(pad_token)) {
        warn(fmt::format("{} pad_token \"{}\" is not in the vocabulary, so texts are not padded with it", *found->where,
                         token));
      }
      if (!tokenizer.padding()) return;
    }
  }
  tokenizer.enable_padding(padding);
}

/// Special tokens of a vocabulary by id.
class SpecialTokens {
 public:
  SpecialTokens(const TokenVocabulary& vocabulary, const TokenizerConfig& config, std::string where)
      : vocabulary_(vocabulary), config_(config), where_(std::move(where)) {}

  /// Adds the token of a key of the config. Throws unless the vocabulary has it.
  std::string require(const char* key, const char* usual) {
    const std::string token = config_.token(key, usual);
    if (!add(token)) {
      fail<FileError>(where_, "must have the {} \"{}\"; got {} tokens without it", key, token, vocabulary_.size());
    }
    return token;
  }

  /// The same for a token that may be missing.
  void add(const char* key, const char* usual) { add(config_.token(key, usual)); }

  std::uint32_t id(const std::string& token) const { return *vocabulary_.find(token); }

  /// Tokens as the list "added_tokens" of a tokenizer.json has them.
  Json json() const {
    Json out = Json::array();
    for (const auto& [id, token] : tokens_) {
      out.push_back({{"id", id},
                     {"content", token},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
    }
    return out;
  }

 private:
  bool add(const std::string& token) {
    const auto found = vocabulary_.find(token);
    if (found) tokens_[*found] = token;
    return found.has_value();
  }

  const TokenVocabulary& vocabulary_;
  const TokenizerConfig& config_;
  std::string where_;
  std::map<std::uint32_t, std::string> tokens_;
};

/// Template of texts between `cls` and `sep`, with type 1 for the second text of a pair.
Json template_of(const SpecialTokens& tokens, const std::string& cls, const std::string& sep) {
  const auto special = [](const std::string& token, int type) {
    return Json{{"SpecialToken", {{"id", token}, {"type_id", type}}}};
  };
  const auto text = [](const char* name, int type) { return Json{{"Sequence", {{"id", name}, {"type_id", type}}}}; };
  Json known = Json::object();
  for (const std::string& token : {cls, sep}) {
    known[token] = {{"id", token}, {"ids", Json::array({tokens.id(token)})}, {"tokens", Json::array({token})}};
  }
  return {{"type", "TemplateProcessing"},
          {"single", Json::array({special(cls, 0), text("A", 0), special(sep, 0)})},
          {"pair", Json::array({special(cls, 0), text("A", 0), special(sep, 0), text("B", 1), special(sep, 1)})},
          {"special_tokens", std::move(known)}};
}

/// Tokenizer that transformers makes of BERT's vocab.txt.
Tokenizer word_piece_tokenizer(const std::string& path, const TokenizerConfig& config) {
  const std::string where = place_of_file(path);
  const TokenVocabulary vocabulary = read_vocabulary_file(path, where);
  Json ids = Json::object();
  vocabulary.for_each([&](const std::string& token, std::uint32_t id) {
    if (!is_utf8(token)) fail<FileError>(where, "every line must be UTF-8; got other bytes in line {}", id + 1);
    ids[token] = id;
  });
  SpecialTokens tokens(vocabulary, config, where);
  const std::string unknown = tokens.require("unk_token", "[UNK]"), cls = tokens.require("cls_token", "[CLS]"),
                    sep = tokens.require("sep_token", "[SEP]");
  tokens.add(pad_token, "[PAD]");
  tokens.add("mask_token", "[MASK]");
  const auto strip_accents = config.flag("strip_accents");
  const Json json{{"version", "1.0"},
                  {"added_tokens", tokens.json()},
                  {"normalizer",
                   {{"type", "BertNormalizer"},
                    {"clean_text", true},
                    {"handle_chinese_chars", config.flag("tokenize_chinese_chars").value_or(true)},
                    {"strip_accents", strip_accents ? Json(*strip_accents) : Json()},
                    {"lowercase", config.flag("do_lower_case").value_or(true)}}},
                  {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                  {"post_processor", template_of(tokens, cls, sep)},
                  {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
                  {"model",
                   {{"type", "WordPiece"},
                    {"unk_token", unknown},
                    {"continuing_subword_prefix", "##"},
                    {"max_input_chars_per_word", 100},
                    {"vocab", std::move(ids)}}}};
  return Tokenizer::from_str(json.dump());
}

/// True unless the config names another class than BERT's for a vocab.txt.
bool is_word_piece_class(const TokenizerConfig& config) {
  const auto found = config.find("tokenizer_class");
  if (!found || !found->value->is_string()) return true;
  const auto name = found->value->get<std::string>();
  return name == "BertTokenizer" || name == "BertTokenizerFast" || name == "DistilBertTokenizer" ||
         name == "DistilBertTokenizerFast";
}

/// Warns of the file of a tokenizer that is not read.
void warn_of_tokenizer(const std::string& folder) {
  for (const char* name :
       {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", vocabulary_name, "vocab.json"}) {
    if (!is_file(file_in(folder, name))) continue;
    const bool is_model = std::string_view(name).ends_with(".model");
    return warn(fmt::format(
        "{} no tokenizer is read: the folder has {}, but no tokenizer.json; AutoTokenizer.from_pretrained(folder)"
        ".save_pretrained(folder) of transformers writes it{}",
        place_of_file(folder), name, is_model ? ", and Tokenizer::from_sentencepiece() reads the model alone" : ""));
  }
}

}  // namespace

std::optional<Tokenizer> tokenizer_in(const std::string& folder, bool has_word_pieces) {
  const TokenizerConfig config(folder);
  const std::string path = file_in(folder, "tokenizer.json"), vocabulary = file_in(folder, vocabulary_name);
  std::optional<Tokenizer> out;
  if (is_file(path)) {
    out = Tokenizer::from_file(path);
    set_padding(config, "", *out);
  } else if (has_word_pieces && is_file(vocabulary) && is_word_piece_class(config)) {
    out = word_piece_tokenizer(vocabulary, config);
    set_padding(config, "[PAD]", *out);
  } else {
    warn_of_tokenizer(folder);
  }
  return out;
}

}  // namespace mezzo::detail
