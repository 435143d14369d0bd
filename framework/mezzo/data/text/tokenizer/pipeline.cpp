#include <mezzo/data/text/tokenizer/pipeline.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t longest_text = std::size_t{1} << 28U;  // in bytes

/// Converts offsets in bytes to characters.
class CharacterOffsets {
 public:
  explicit CharacterOffsets(std::string_view text) : text_(text) {
    std::size_t count = 0;
    for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80 ? 1 : 0;
    if (count == text.size()) return;
    places_.reserve(text.size() + 1);
    std::uint32_t place = 0;
    for_each_character_of(text, [&](char32_t, std::size_t begin, std::size_t end) {
      places_.resize(places_.size() + end - begin, place++);
    });
    places_.push_back(place);
  }

  std::pair<std::int64_t, std::int64_t> operator()(ByteRange range) const {
    if (places_.empty() || range.begin >= text_.size()) return {range.begin, range.end};
    return {places_[range.begin], places_[std::min<std::size_t>(range.end, text_.size())]};
  }

 private:
  std::string_view text_;
  std::vector<std::uint32_t> places_;  // by byte; none for ASCII
};

}  // namespace

TokenizedText TokenizerPipeline::encode_text(std::string_view given, std::int64_t type_id) const {
  if (given.size() > longest_text) {
    fail<ValueError>("[Tokenizer]", "a text must have at most {} bytes; got {}", longest_text, given.size());
  }
  std::string text;
  text.reserve(given.size());
  append_valid_utf8(text, given);
  Pieces pieces = added_tokens.extract(text, normalizer.get());
  if (pre_tokenizer) pre_tokenizer->apply(pieces);
  const CharacterOffsets offsets(text);
  const std::vector<ByteRange>& alignment = pieces.text().alignment;
  const TokenVocabulary& vocabulary = model->vocabulary();
  TokenizedText out;
  std::vector<ModelToken> tokens;
  std::int64_t word = 0;
  for (const Piece& piece : pieces.list()) {
    const std::string_view own = pieces.text_of(piece);
    tokens.clear();
    if (piece.token) {
      tokens.push_back({*piece.token, 0, static_cast<std::uint32_t>(own.size()), true});
    } else {
      model->tokenize(own, tokens);
    }
    for (const ModelToken& one : tokens) {
      if (one.begins_word && &one != tokens.data()) ++word;
      // A token has no bytes if the model drops characters without a token.
      const ByteRange range =
          one.begin < one.end && one.end <= own.size()
              ? ByteRange{alignment[piece.begin + one.begin].begin, alignment[piece.begin + one.end - 1].end}
              : ByteRange{piece.origin + one.begin, piece.origin + one.end};
      append_token(out, one.id,
                   one.is_literal ? std::string(own.substr(one.begin, one.end - one.begin)) : *vocabulary.text(one.id),
                   offsets(range), word, type_id);
    }
    ++word;
  }
  return out;
}

TokenizedText TokenizerPipeline::encode(std::string_view first, const std::string* second, bool add_special_tokens,
                                        const TruncationOptions* truncation) const {
  std::vector<TokenizedText> parts;
  parts.push_back(encode_text(first, 0));
  if (second != nullptr) parts.push_back(encode_text(*second, 1));
  if (truncation != nullptr) {
    const std::int64_t special = add_special_tokens && post_processor ? post_processor->added(second != nullptr) : 0;
    if (truncation->max_length < special) {
      fail<ValueError>("[Tokenizer]", "max_length must be at least {}, the number of special tokens; got {}", special,
                       truncation->max_length);
    }
    truncate_texts(parts[0], second != nullptr ? &parts[1] : nullptr, truncation->max_length - special, *truncation);
  }
  if (post_processor) post_processor->apply(parts, add_special_tokens);
  if (parts.size() == 1) return std::move(parts[0]);
  TokenizedText out;
  for (const TokenizedText& part : parts) append_text(out, part);
  return out;
}

std::string TokenizerPipeline::decode(const std::vector<std::int64_t>& ids, bool skip_special_tokens,
                                      const std::string& where) const {
  std::vector<std::string> tokens;
  for (const std::int64_t id : ids) {
    const std::string& token = id_to_token(id, where);
    if (!skip_special_tokens || !added_tokens.is_special(token)) tokens.push_back(token);
  }
  if (decoder) {
    decoder->apply(tokens);
    std::string out;
    for (const std::string& token : tokens) out += token;
    return out;
  }
  return fmt::format("{}", fmt::join(tokens, " "));
}

std::int64_t TokenizerPipeline::token_to_id(const std::string& token, const std::string& where) const {
  const auto added = added_tokens.find(token);
  const auto id = added ? added : model->vocabulary().find(token);
  if (!id) fail<NameError>(where, "unknown token \"{}\"; the vocabulary has {} others", token, vocab_size());
  return *id;
}

const std::string& TokenizerPipeline::id_to_token(std::int64_t id, const std::string& where) const {
  const auto place = static_cast<std::uint64_t>(id);
  const std::string* token = nullptr;
  if (id >= 0) token = added_tokens.text(place);
  if (id >= 0 && token == nullptr) token = model->vocabulary().text(place);
  if (token == nullptr) fail<ValueError>(where, "ids must have a token; got {} for {} tokens", id, vocab_size());
  return *token;
}

std::int64_t TokenizerPipeline::vocab_size() const {
  return static_cast<std::int64_t>(model->vocabulary().size() + added_tokens.count_new());
}

}  // namespace mezzo::detail
