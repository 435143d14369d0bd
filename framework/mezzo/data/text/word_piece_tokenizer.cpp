#include <mezzo/data/text/word_piece_tokenizer.hpp>

#include <cstdint>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/data/text/tokenizer/normalizers.hpp>
#include <mezzo/data/text/tokenizer/tokenized_rows.hpp>
#include <mezzo/data/text/tokenizer/vocabulary_file.hpp>

namespace mezzo {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr const char* word_piece_label = "[WordPieceTokenizer]";

}  // namespace

struct WordPieceTokenizer::Vocabulary {
  detail::TokenizerPipeline pipeline;
  PaddingOptions padding;

  Vocabulary(const std::string& path, bool lowercase) {
    const std::string where = fmt::format("{} \"{}\":", word_piece_label, path);
    detail::TokenVocabulary vocabulary = detail::read_vocabulary_file(path, where);
    const detail::WordPieceOptions pieces;
    const auto require = [&](const std::string& token) {
      const auto id = vocabulary.find(token);
      if (!id) fail<FileError>(where, "must have the token {}; got {} tokens without it", token, vocabulary.size());
      return std::int64_t{*id};
    };
    padding.pad_id = require(padding.pad_token);
    require(pieces.unk_token);
    const detail::SpecialToken cls{"[CLS]", require("[CLS]")};
    const detail::SpecialToken sep{"[SEP]", require("[SEP]")};
    for (const std::string& content :
         {padding.pad_token, pieces.unk_token, cls.token, sep.token, std::string("[MASK]")}) {
      detail::AddedToken token;
      token.content = content;
      token.normalized = false;
      token.special = true;
      if (vocabulary.find(content)) pipeline.added_tokens.add(token, vocabulary, nullptr, where);
    }
    detail::BertCleaning cleaning;
    cleaning.lowercase = lowercase;
    pipeline.normalizer = detail::bert_normalizer(cleaning);
    pipeline.pre_tokenizer = detail::bert_pre_tokenizer();
    pipeline.model = detail::word_piece_model(std::move(vocabulary), pieces);
    pipeline.post_processor = detail::bert_processing(sep, cls);
    pipeline.decoder = detail::word_piece_decoder(pieces.continuing_subword_prefix, true);
  }
};

WordPieceTokenizer::WordPieceTokenizer(const std::string& vocab_file, const WordPieceTokenizerOptions& options) {
  vocabulary_ = std::make_shared<const Vocabulary>(vocab_file, options.lowercase);
}

Ids WordPieceTokenizer::encode(const std::string& text) const {
  return detail::unmoved<WordPieceTokenizer>(vocabulary_)->pipeline.encode(text, nullptr, true, nullptr).ids;
}

Ids WordPieceTokenizer::encode(const std::string& text, const std::string& text_pair) const {
  return detail::unmoved<WordPieceTokenizer>(vocabulary_)->pipeline.encode(text, &text_pair, true, nullptr).ids;
}

Encoding WordPieceTokenizer::encode_batch(const std::vector<std::string>& texts, const EncodeOptions& options) const {
  const Vocabulary& vocabulary = *detail::unmoved<WordPieceTokenizer>(vocabulary_);
  return detail::encode_rows(vocabulary.pipeline, texts, options, {nullptr, &vocabulary.padding}, word_piece_label);
}

std::string WordPieceTokenizer::decode(const Ids& ids, bool skip_special_tokens) const {
  return detail::unmoved<WordPieceTokenizer>(vocabulary_)->pipeline.decode(ids, skip_special_tokens, word_piece_label);
}

std::int64_t WordPieceTokenizer::vocab_size() const {
  return detail::unmoved<WordPieceTokenizer>(vocabulary_)->pipeline.vocab_size();
}

std::int64_t WordPieceTokenizer::token_to_id(const std::string& token) const {
  return detail::unmoved<WordPieceTokenizer>(vocabulary_)->pipeline.token_to_id(token, word_piece_label);
}

const std::string& WordPieceTokenizer::id_to_token(std::int64_t id) const {
  return detail::unmoved<WordPieceTokenizer>(vocabulary_)->pipeline.id_to_token(id, word_piece_label);
}

}  // namespace mezzo
