#pragma once
#include <map>
#include <memory>

#include <mezzo/data/text/tokenizer/tokenized_parts.hpp>

namespace mezzo::detail {

/// Adds special tokens to the tokens of a text or of a pair. Thread-safe.
class PostProcessor {
 public:
  PostProcessor() = default;
  PostProcessor(const PostProcessor&) = delete;
  PostProcessor& operator=(const PostProcessor&) = delete;
  virtual ~PostProcessor() = default;

  /// Number of tokens that it adds.
  virtual std::int64_t added(bool is_pair) const = 0;

  /// Changes the parts, at first one for each text. Their concatenation is the result.
  virtual void apply(std::vector<TokenizedText>& parts, bool add_special_tokens) const = 0;
};

using PostProcessorPtr = std::unique_ptr<const PostProcessor>;

/// A token and its id.
struct SpecialToken {
  std::string token;
  std::int64_t id = 0;
};

/// How offsets leave out the space that byte-level BPE puts in a token.
struct OffsetTrimming {
  bool trim_offsets = true;
  bool add_prefix_space = true;
};

/// A piece of a template: the first or second text, or added tokens.
struct TemplatePiece {
  enum class Kind { first, second, added } kind = Kind::first;
  std::int64_t type_id = 0;
  AddedPart added{};
};

PostProcessorPtr bert_processing(const SpecialToken& sep, const SpecialToken& cls);
PostProcessorPtr roberta_processing(const SpecialToken& sep, const SpecialToken& cls, const OffsetTrimming& trimming);
PostProcessorPtr byte_level_processing(const OffsetTrimming& trimming);
PostProcessorPtr template_processing(std::vector<TemplatePiece> single, std::vector<TemplatePiece> pair);
PostProcessorPtr post_processor_sequence(std::vector<PostProcessorPtr> processors);

}  // namespace mezzo::detail
