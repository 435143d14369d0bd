#include <mezzo/data/text/tokenizer/sentencepiece_model.hpp>

#include <array>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/sentencepiece/plugin.hpp>
#include <mezzo/data/text/tokenizer/sentencepiece_file.hpp>

namespace mezzo::detail {
namespace {

constexpr std::string_view word_begin = "\xe2\x96\x81";  // ▁

const sentencepiece_plugin::Functions& load_functions(const std::string& where) {
  static const sentencepiece_plugin::Functions functions = [&] {
    sentencepiece_plugin::Functions found{};
    reinterpret_cast<sentencepiece_plugin::Get>(load_plugin(plugin_of_sentencepiece, where))(&found);
    if (found.version != sentencepiece_plugin::current_version) {
      fail<FileError>(where, "the plug-in mezzo_sentencepiece must have version {}; got {}",
                      sentencepiece_plugin::current_version, found.version);
    }
    return found;
  }();
  return functions;
}

/// A model that the plug-in has read. Thread-safe.
class Processor {
 public:
  Processor(const std::string& bytes, const std::string& where) : functions_(load_functions(where)) {
    std::array<char, 1000> error{};
    model_ = functions_.open({bytes.data(), bytes.size()}, error.data(), error.size());
    if (model_ == nullptr) fail<FileError>(where, "libsentencepiece can't read the model: {}", error.data());
  }
  ~Processor() { functions_.close(model_); }
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;

  int bos_id() const { return functions_.bos_id(model_); }
  int eos_id() const { return functions_.eos_id(model_); }

  void encode(std::string_view text, std::vector<ModelToken>& out) const {
    const auto take = [](void* tokens, const sentencepiece_plugin::Piece& piece) {
      ModelToken token{piece.id, piece.begin, piece.end};
      token.is_literal = piece.unknown != 0;
      token.begins_word = std::string_view(piece.text, piece.bytes).substr(0, word_begin.size()) == word_begin;
      static_cast<std::vector<ModelToken>*>(tokens)->push_back(token);
    };
    functions_.encode(model_, {text.data(), text.size()}, take, &out);
  }

  std::string decode(const std::vector<std::string>& pieces) const {
    std::vector<sentencepiece_plugin::Text> texts;
    for (const std::string& piece : pieces) texts.push_back({piece.data(), piece.size()});
    const auto take = [](void* to, sentencepiece_plugin::Text text) {
      static_cast<std::string*>(to)->assign(text.data, text.bytes);
    };
    std::string out;
    std::array<char, 1000> error{};
    if (functions_.decode(model_, texts.data(), texts.size(), take, &out, error.data(), error.size()) != 0) {
      fail<ValueError>("[Tokenizer]", "libsentencepiece can't decode: {}", error.data());
    }
    return out;
  }

 private:
  const sentencepiece_plugin::Functions& functions_;
  void* model_ = nullptr;
};

/// Runs libsentencepiece, which normalizes and divides a text on its own.
class SentencePieceModel final : public TokenModel {
 public:
  SentencePieceModel(TokenVocabulary vocabulary, std::shared_ptr<const Processor> processor)
      : TokenModel(std::move(vocabulary)), processor_(std::move(processor)) {}

  void tokenize(std::string_view text, std::vector<ModelToken>& out) const override { processor_->encode(text, out); }

 private:
  std::shared_ptr<const Processor> processor_;
};

/// Text of pieces by libsentencepiece, which leaves out control pieces. Those that are given are put back.
class SentencePieceDecoder final : public TokenDecoder {
 public:
  SentencePieceDecoder(std::shared_ptr<const Processor> processor, std::set<std::string> controls)
      : processor_(std::move(processor)), controls_(std::move(controls)) {}

  void apply(std::vector<std::string>& tokens) const override {
    std::string text;
    std::vector<std::string> run;
    const auto append = [&] {
      if (!run.empty()) text += processor_->decode(run);
      run.clear();
    };
    for (const std::string& token : tokens) {
      if (controls_.count(token) > 0) {
        append();
        text += token;
      } else {
        run.push_back(token);
      }
    }
    append();
    tokens = {std::move(text)};
  }

 private:
  std::shared_ptr<const Processor> processor_;
  std::set<std::string> controls_;
};

/// Puts the pieces <s> and </s> around each text. Null if neither is wanted.
PostProcessorPtr around_texts(const Processor& processor, const TokenVocabulary& vocabulary,
                              const SentencePieceOptions& options, const std::string& where) {
  if (!options.add_bos && !options.add_eos) return nullptr;
  const auto part = [&](const char* name, int id) {
    const std::string* text = id < 0 ? nullptr : vocabulary.text(static_cast<std::uint64_t>(id));
    if (text == nullptr) fail<FileError>(where, "{} must have a piece; the model has none", name);
    TemplatePiece piece;
    piece.kind = TemplatePiece::Kind::added;
    piece.added = {{id}, {*text}, 0};
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
  std::set<std::string> controls;
  std::uint64_t id = 0;
  for (const SentencePiecePiece& piece : check_sentencepiece(bytes, where)) {
    if (vocabulary.find(piece.text)) fail<FileError>(where, "pieces must differ; got \"{}\" twice", piece.text);
    vocabulary.add(piece.text, id++, where);
    if (piece.kind != SentencePiecePiece::Kind::control) continue;
    pipeline.added_tokens.mark_special(piece.text);
    controls.insert(piece.text);
  }
  const auto processor = std::make_shared<const Processor>(bytes, where);
  pipeline.post_processor = around_texts(*processor, vocabulary, options, where);
  pipeline.decoder = std::make_unique<SentencePieceDecoder>(processor, std::move(controls));
  pipeline.model = std::make_unique<SentencePieceModel>(std::move(vocabulary), processor);
}

}  // namespace mezzo::detail
