#include <mezzo/data/text/tokenizer.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/data/text/tokenizer/read_parts.hpp>
#include <mezzo/data/text/tokenizer/sentencepiece_file.hpp>
#include <mezzo/data/text/tokenizer/sentencepiece_model.hpp>
#include <mezzo/data/text/tokenizer/tokenized_rows.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/file_replacement.hpp>

namespace mezzo {
namespace {

constexpr const char* tokenizer_label = "[Tokenizer]";
constexpr std::uint64_t largest_json = std::uint64_t{1} << 30U;  // in bytes
constexpr std::int64_t longest_row = std::int64_t{1} << 24U;

TruncationOptions read_truncation(detail::JsonFields fields) {
  TruncationOptions options;
  if (fields.has("direction"))
    options.direction = fields.choice("direction", {"Right", "Left"}) == 0 ? "right" : "left";
  options.max_length = fields.count("max_length");
  constexpr const char* strategies[] = {"longest_first", "only_first", "only_second"};
  options.strategy = strategies[fields.choice("strategy", {"LongestFirst", "OnlyFirst", "OnlySecond"})];
  options.stride = fields.count("stride");
  fields.done();
  return options;
}

PaddingOptions read_padding(detail::JsonFields fields) {
  PaddingOptions options;
  if (fields.member("strategy").is_object()) {
    detail::JsonFields strategy = fields.object("strategy");
    options.length = strategy.count("Fixed", longest_row);
    strategy.done();
  } else {
    fields.choice("strategy", {"BatchLongest"});
  }
  options.direction = fields.choice("direction", {"Right", "Left"}) == 0 ? "right" : "left";
  const std::int64_t multiple = fields.count("pad_to_multiple_of", longest_row, 0);
  if (multiple > 0) options.pad_to_multiple_of = multiple;
  options.pad_id = fields.count("pad_id");
  options.pad_type_id = fields.count("pad_type_id");
  options.pad_token = fields.text("pad_token");
  fields.done();
  return options;
}

nlohmann::ordered_json json_of_truncation(const TruncationOptions& options) {
  const char* strategy = "LongestFirst";
  if (options.strategy == "only_first") strategy = "OnlyFirst";
  if (options.strategy == "only_second") strategy = "OnlySecond";
  return {{"direction", options.direction == "right" ? "Right" : "Left"},
          {"max_length", options.max_length},
          {"strategy", strategy},
          {"stride", options.stride}};
}

nlohmann::ordered_json json_of_padding(const PaddingOptions& options) {
  nlohmann::ordered_json strategy = "BatchLongest";
  if (options.length) strategy = nlohmann::ordered_json::object({{"Fixed", *options.length}});
  nlohmann::ordered_json multiple;
  if (options.pad_to_multiple_of) multiple = *options.pad_to_multiple_of;
  return {{"strategy", strategy},
          {"direction", options.direction == "right" ? "Right" : "Left"},
          {"pad_to_multiple_of", multiple},
          {"pad_id", options.pad_id},
          {"pad_type_id", options.pad_type_id},
          {"pad_token", options.pad_token}};
}

void read_added_tokens(detail::JsonFields& file, detail::TokenizerPipeline& pipeline) {
  if (!file.has("added_tokens")) return;
  for (detail::JsonFields& fields : file.objects("added_tokens")) {
    detail::AddedToken token;
    const std::int64_t id = fields.count("id");
    token.content = fields.text("content");
    token.single_word = fields.flag("single_word");
    token.lstrip = fields.flag("lstrip");
    token.rstrip = fields.flag("rstrip");
    token.normalized = fields.flag("normalized");
    token.special = fields.flag("special");
    fields.done();
    const std::int64_t found =
        pipeline.added_tokens.add(token, pipeline.model->vocabulary(), pipeline.normalizer.get(), fields.where());
    if (found != id) {
      fail<FileError>(fields.where(), "{} of \"{}\" must be {}, its id in the vocabulary or the next free one; got {}",
                      fields.path("id"), token.content, found, id);
    }
  }
}

/// Start of errors about a file.
std::string tokenizer_place(const std::string& path) { return fmt::format("{} \"{}\":", tokenizer_label, path); }

std::string tokenizer_content(const std::string& path) {
  const detail::Bytes bytes = detail::read_file(path, largest_json);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Tokenizer Tokenizer::read(const std::string& json, const std::string& where) {
  const nlohmann::json parsed = detail::parse_tokenizer_json(json, where);
  detail::JsonFields file(parsed, where, "");
  if (file.has("version")) file.choice("version", {"1.0"});
  auto pipeline = std::make_shared<detail::TokenizerPipeline>();
  if (file.has("normalizer")) pipeline->normalizer = detail::read_normalizer(file.object("normalizer"));
  if (file.has("pre_tokenizer")) pipeline->pre_tokenizer = detail::read_pre_tokenizer(file.object("pre_tokenizer"));
  pipeline->model = detail::read_token_model(file.object("model"));
  if (file.has("post_processor")) pipeline->post_processor = detail::read_post_processor(file.object("post_processor"));
  if (file.has("decoder")) pipeline->decoder = detail::read_token_decoder(file.object("decoder"));
  read_added_tokens(file, *pipeline);
  Tokenizer out;
  if (file.has("truncation")) out.truncation_ = read_truncation(file.object("truncation"));
  if (file.has("padding")) out.padding_ = read_padding(file.object("padding"));
  file.done();
  out.pipeline_ = std::move(pipeline);
  out.json_ = std::make_shared<const std::string>(json);
  return out;
}

Tokenizer Tokenizer::read_model(const std::string& bytes, const SentencePieceOptions& options,
                                const std::string& where) {
  auto pipeline = std::make_shared<detail::TokenizerPipeline>();
  detail::read_sentencepiece(bytes, options, where, *pipeline);
  Tokenizer out;
  out.pipeline_ = std::move(pipeline);
  return out;
}

Tokenizer Tokenizer::from_file(const std::string& path) {
  const std::string where = tokenizer_place(path);
  detail::check_kind_of_text(path, {detail::FileKind::tokenizer}, where, "a tokenizer.json or a SentencePiece model");
  const std::string content = tokenizer_content(path);
  return detail::may_be_sentencepiece(content) ? read_model(content, {}, where) : read(content, where);
}

Tokenizer Tokenizer::from_sentencepiece(const std::string& path, const SentencePieceOptions& options) {
  const std::string where = tokenizer_place(path);
  detail::check_content(path, where, "a SentencePiece model (tokenizer.model)");
  return read_model(tokenizer_content(path), options, where);
}

Tokenizer Tokenizer::from_str(const std::string& json) { return read(json, tokenizer_label); }

std::string Tokenizer::to_str() const {
  pipeline();
  if (!json_) {
    fail<ValueError>(tokenizer_label,
                     "must be of a tokenizer.json to be written as one; this one is of a SentencePiece "
                     "model: copy its file");
  }
  auto json = nlohmann::ordered_json::parse(*json_);
  json["truncation"] = truncation_ ? json_of_truncation(*truncation_) : nlohmann::ordered_json();
  json["padding"] = padding_ ? json_of_padding(*padding_) : nlohmann::ordered_json();
  return json.dump(2);
}

void Tokenizer::save(const std::string& path) const {
  const std::string where = tokenizer_place(path), text = to_str();
  detail::check_suffix(path, detail::FileKind::tokenizer, where, ".json, or have a suffix of its own");
  detail::replace_file(path, text, where);
}

const detail::TokenizerPipeline& Tokenizer::pipeline() const { return *detail::unmoved<Tokenizer>(pipeline_); }

TokenizedText Tokenizer::encode(const std::string& text, const EncodeTextOptions& options) const {
  TokenizedText out = pipeline().encode(text, options.text_pair ? &*options.text_pair : nullptr,
                                        options.add_special_tokens, truncation_ ? &*truncation_ : nullptr);
  if (padding_) {
    detail::pad_text(out, detail::padded_length(static_cast<std::int64_t>(out.ids.size()), *padding_), *padding_);
  }
  return out;
}

Encoding Tokenizer::encode_batch(const std::vector<std::string>& texts, const EncodeOptions& options) const {
  return detail::encode_rows(pipeline(), texts, options,
                             {truncation_ ? &*truncation_ : nullptr, padding_ ? &*padding_ : nullptr}, tokenizer_label);
}

std::string Tokenizer::decode(const Ids& ids, bool skip_special_tokens) const {
  return pipeline().decode(ids, skip_special_tokens, tokenizer_label);
}

void Tokenizer::enable_truncation(const TruncationOptions& options) {
  detail::check_truncation(options, "[Tokenizer.enable_truncation]");
  truncation_ = options;
}

void Tokenizer::enable_padding(const PaddingOptions& options) {
  detail::check_padding(options, "[Tokenizer.enable_padding]");
  padding_ = options;
}

std::int64_t Tokenizer::vocab_size() const { return pipeline().vocab_size(); }

std::int64_t Tokenizer::token_to_id(const std::string& token) const {
  return pipeline().token_to_id(token, tokenizer_label);
}

const std::string& Tokenizer::id_to_token(std::int64_t id) const { return pipeline().id_to_token(id, tokenizer_label); }

}  // namespace mezzo
