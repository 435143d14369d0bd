#include <mezzo/data/text/tokenizer/sentencepiece_model.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/tokenizer/sentencepiece_file.hpp>

#ifdef MEZZO_WITH_SENTENCEPIECE
#include <sentencepiece_processor.h>
#endif

namespace mezzo::detail {

#ifdef MEZZO_WITH_SENTENCEPIECE
namespace {

using Processor = sentencepiece::SentencePieceProcessor;
constexpr std::string_view word_begin = "\xe2\x96\x81";  // ▁

/// Runs libsentencepiece, which normalizes and divides a text on its own.
class SentencePieceModel final : public TokenModel {
 public:
  SentencePieceModel(TokenVocabulary vocabulary, std::shared_ptr<const Processor> processor)
      : TokenModel(std::move(vocabulary)), processor_(std::move(processor)) {}

  void tokenize(std::string_view text, std::vector<ModelToken>& out) const override {
    const auto pieces = processor_->EncodeAsImmutableProto(text);
    for (std::size_t i = 0; i < pieces.pieces_size(); ++i) {
      const auto piece = pieces.pieces(static_cast<int>(i));
      ModelToken token{piece.id(), piece.begin(), piece.end()};
      token.is_literal = processor_->IsUnknown(static_cast<int>(piece.id()));
      token.begins_word = std::string_view(piece.piece()).substr(0, word_begin.size()) == word_begin;
      out.push_back(token);
    }
  }

 private:
  std::shared_ptr<const Processor> processor_;
};

/// Text of pieces by libsentencepiece, which leaves out control pieces. Those that are given are put back.
class SentencePieceDecoder final : public TokenDecoder {
 public:
  explicit SentencePieceDecoder(std::shared_ptr<const Processor> processor) : processor_(std::move(processor)) {}

  void apply(std::vector<std::string>& tokens) const override {
    std::string text;
    std::vector<std::string> run;
    for (const std::string& token : tokens) {
      if (processor_->IsControl(processor_->PieceToId(token))) {
        append(run, text);
        text += token;
      } else {
        run.push_back(token);
      }
    }
    append(run, text);
    tokens = {std::move(text)};
  }

 private:
  void append(std::vector<std::string>& run, std::string& text) const {
    if (run.empty()) return;
    std::string decoded;
    const auto status = processor_->Decode(run, &decoded);
    if (!status.ok()) fail<ValueError>("[Tokenizer]", "libsentencepiece can't decode: {}", status.ToString());
    text += decoded;
    run.clear();
  }

  std::shared_ptr<const Processor> processor_;
};

/// Puts the pieces <s> and </s> around each text. Null if neither is wanted.
PostProcessorPtr around_texts(const Processor& processor, const SentencePieceOptions& options,
                              const std::string& where) {
  if (!options.add_bos && !options.add_eos) return nullptr;
  const auto part = [&](const char* name, int id) {
    if (id < 0) fail<FileError>(where, "{} must have a piece; the model has none", name);
    TemplatePiece piece;
    piece.kind = TemplatePiece::Kind::added;
    piece.added = {{id}, {processor.IdToPiece(id)}, 0};
    return piece;
  };
  const auto add_text = [&](TemplatePiece::Kind kind, std::int64_t type_id, std::vector<TemplatePiece>& out) {
    if (options.add_bos) out.push_back(part("add_bos", processor.bos_id()));
    TemplatePiece text;
    text.kind = kind;
    text.type_id = type_id;
    out.push_back(text);
    if (options.add_eos) out.push_back(part("add_eos", processor.eos_id()));
  };
  std::vector<TemplatePiece> single, pair;
  add_text(TemplatePiece::Kind::first, 0, single);
  add_text(TemplatePiece::Kind::first, 0, pair);
  add_text(TemplatePiece::Kind::second, 0, pair);
  return template_processing(std::move(single), std::move(pair));
}

}  // namespace

void read_sentencepiece(const std::string& bytes, const SentencePieceOptions& options, const std::string& where,
                        TokenizerPipeline& pipeline) {
  TokenVocabulary vocabulary;
  std::uint64_t id = 0;
  for (const SentencePiecePiece& piece : check_sentencepiece(bytes, where)) {
    if (vocabulary.find(piece.text)) fail<FileError>(where, "pieces must differ; got \"{}\" twice", piece.text);
    vocabulary.add(piece.text, id++, where);
    if (piece.kind == SentencePiecePiece::Kind::control) pipeline.added_tokens.mark_special(piece.text);
  }
  auto processor = std::make_shared<Processor>();
  const auto status = processor->LoadFromSerializedProto(bytes);
  if (!status.ok()) fail<FileError>(where, "libsentencepiece can't read the model: {}", status.ToString());
  pipeline.post_processor = around_texts(*processor, options, where);
  pipeline.decoder = std::make_unique<SentencePieceDecoder>(processor);
  pipeline.model = std::make_unique<SentencePieceModel>(std::move(vocabulary), std::move(processor));
}

#else

void read_sentencepiece(const std::string&, const SentencePieceOptions&, const std::string& where, TokenizerPipeline&) {
  fail<Error>(where, "a SentencePiece model needs libsentencepiece; this mezzo was built without it");
}

#endif

}  // namespace mezzo::detail
