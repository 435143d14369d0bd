#include <mezzo/data/text/tokenizer/post_processors.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/tokenizer/aligned_text.hpp>
#include <mezzo/data/text/tokenizer/byte_characters.hpp>

namespace mezzo::detail {
namespace {

AddedPart part_of(const SpecialToken& token, std::int64_t type_id) { return {{token.id}, {token.token}, type_id}; }

/// Puts `before`, which may be null, in front of a text and `after` behind it; so for its overflowing parts.
void surround(TokenizedText& text, const AddedPart* before, const AddedPart& after) {
  std::vector<TokenizedText> overflowing = std::move(text.overflowing);
  text.overflowing.clear();
  TokenizedText out = before != nullptr ? text_of(*before) : TokenizedText();
  append_text(out, text);
  append_text(out, text_of(after));
  for (TokenizedText& part : overflowing) surround(part, before, after);
  text = std::move(out);
  text.overflowing = std::move(overflowing);
}

/// Spaces at the begin and the end of a token.
std::pair<std::int64_t, std::int64_t> spaces_of(const std::string& token) {
  std::int64_t leading = 0;
  std::int64_t trailing = 0;
  bool inside = false;
  for_each_character_of(token, [&](char32_t c, std::size_t, std::size_t) {
    const bool space = is_space_of_bytes(c);
    inside = inside || !space;
    if (!inside) ++leading;
    trailing = space ? trailing + 1 : 0;
  });
  return {leading, trailing};
}

void trim_offsets(TokenizedText& text, bool add_prefix_space) {
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    auto [leading, trailing] = spaces_of(text.tokens[i]);
    auto& [begin, end] = text.offsets[i];
    // A single space at the begin is one that was added, not one of the text.
    if (leading == 1 && add_prefix_space && (i == 0 || begin == 0)) leading = 0;
    begin = std::min(begin + leading, end);
    if (trailing > 0 && end >= trailing) end = std::max(end - trailing, begin);
  }
  for (TokenizedText& part : text.overflowing) trim_offsets(part, add_prefix_space);
}

class BertProcessing final : public PostProcessor {
 public:
  BertProcessing(const SpecialToken& sep, const SpecialToken& cls)
      : cls_(part_of(cls, 0)), sep_(part_of(sep, 0)), second_sep_(part_of(sep, 1)) {}
  std::int64_t added(bool is_pair) const override { return is_pair ? 3 : 2; }
  void apply(std::vector<TokenizedText>& parts, bool add_special_tokens) const override {
    for (std::size_t i = 0; i < parts.size() && add_special_tokens; ++i) {
      surround(parts[i], i == 0 ? &cls_ : nullptr, i == 0 ? sep_ : second_sep_);
    }
  }

 private:
  AddedPart cls_, sep_, second_sep_;
};

class RobertaProcessing final : public PostProcessor {
 public:
  RobertaProcessing(const SpecialToken& sep, const SpecialToken& cls, const OffsetTrimming& trimming)
      : cls_(part_of(cls, 0)), sep_(part_of(sep, 0)), trimming_(trimming) {}
  std::int64_t added(bool is_pair) const override { return is_pair ? 4 : 2; }
  void apply(std::vector<TokenizedText>& parts, bool add_special_tokens) const override {
    for (TokenizedText& part : parts) {
      if (trimming_.trim_offsets) trim_offsets(part, trimming_.add_prefix_space);
      part.type_ids.assign(part.type_ids.size(), 0);
    }
    for (std::size_t i = 0; i < parts.size() && add_special_tokens; ++i) {
      for (TokenizedText& part : parts[i].overflowing) part.type_ids.assign(part.type_ids.size(), 0);
      surround(parts[i], i == 0 ? &cls_ : &sep_, sep_);
    }
  }

 private:
  AddedPart cls_, sep_;
  OffsetTrimming trimming_;
};

class ByteLevelProcessing final : public PostProcessor {
 public:
  explicit ByteLevelProcessing(const OffsetTrimming& trimming) : trimming_(trimming) {}
  std::int64_t added(bool) const override { return 0; }
  void apply(std::vector<TokenizedText>& parts, bool) const override {
    for (TokenizedText& part : parts) {
      if (trimming_.trim_offsets) trim_offsets(part, trimming_.add_prefix_space);
    }
  }

 private:
  OffsetTrimming trimming_;
};

class TemplateProcessing final : public PostProcessor {
 public:
  TemplateProcessing(std::vector<TemplatePiece> single, std::vector<TemplatePiece> pair)
      : single_(std::move(single)), pair_(std::move(pair)) {}

  std::int64_t added(bool is_pair) const override {
    std::size_t count = 0;
    for (const TemplatePiece& piece : is_pair ? pair_ : single_) count += piece.added.ids.size();
    return static_cast<std::int64_t>(count);
  }

  void apply(std::vector<TokenizedText>& parts, bool add_special_tokens) const override {
    if (parts.empty() || parts.size() > 2) {
      fail<ValueError>("[Tokenizer]", "a template must get one or two texts; got {} of another post-processor",
                       parts.size());
    }
    std::vector<TokenizedText> out;
    for (const TemplatePiece& piece : parts.size() == 2 ? pair_ : single_) {
      if (piece.kind == TemplatePiece::Kind::added) {
        if (add_special_tokens) out.push_back(text_of(piece.added));
        continue;
      }
      TokenizedText& text = parts[piece.kind == TemplatePiece::Kind::first ? 0 : 1];
      text.type_ids.assign(text.type_ids.size(), piece.type_id);
      out.push_back(text);
    }
    parts = std::move(out);
  }

 private:
  std::vector<TemplatePiece> single_, pair_;
};

class PostProcessorSequence final : public PostProcessor {
 public:
  explicit PostProcessorSequence(std::vector<PostProcessorPtr> processors) : processors_(std::move(processors)) {}
  std::int64_t added(bool is_pair) const override {
    std::int64_t count = 0;
    for (const PostProcessorPtr& one : processors_) count += one->added(is_pair);
    return count;
  }
  void apply(std::vector<TokenizedText>& parts, bool add_special_tokens) const override {
    for (const PostProcessorPtr& one : processors_) one->apply(parts, add_special_tokens);
  }

 private:
  std::vector<PostProcessorPtr> processors_;
};

}  // namespace

PostProcessorPtr bert_processing(const SpecialToken& sep, const SpecialToken& cls) {
  return std::make_unique<BertProcessing>(sep, cls);
}

PostProcessorPtr roberta_processing(const SpecialToken& sep, const SpecialToken& cls, const OffsetTrimming& trimming) {
  return std::make_unique<RobertaProcessing>(sep, cls, trimming);
}

PostProcessorPtr byte_level_processing(const OffsetTrimming& trimming) {
  return std::make_unique<ByteLevelProcessing>(trimming);
}

PostProcessorPtr template_processing(std::vector<TemplatePiece> single, std::vector<TemplatePiece> pair) {
  return std::make_unique<TemplateProcessing>(std::move(single), std::move(pair));
}

PostProcessorPtr post_processor_sequence(std::vector<PostProcessorPtr> processors) {
  return std::make_unique<PostProcessorSequence>(std::move(processors));
}

}  // namespace mezzo::detail
