#include <mezzo/data/text/tokenizer/tokenized_rows.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/gather.hpp>

namespace mezzo::detail {
namespace {

void check_rows(const std::vector<std::string>& texts, const EncodeOptions& options, std::int64_t special,
                const std::string& where) {
  const std::size_t pairs = options.text_pairs.size();
  if (pairs != 0 && pairs != texts.size()) {
    fail<ValueError>(where, "text_pairs must have one text for each of the {} texts, or none; got {}", texts.size(),
                     pairs);
  }
  if (options.max_length != 0 && options.max_length < special) {
    fail<ValueError>(where, "max_length must be 0 or at least {}, the number of special tokens; got {}", special,
                     options.max_length);
  }
  const bool to_max_length = options.padding == "max_length";
  if (!to_max_length && options.padding != "longest") {
    fail<ValueError>(where, "unknown padding \"{}\"; valid names: longest, max_length", options.padding);
  }
  if (to_max_length && options.max_length == 0) {
    fail<ValueError>(where, "padding \"max_length\" needs a max_length above 0; got 0");
  }
}

}  // namespace

Encoding encode_rows(const TokenizerPipeline& pipeline, const std::vector<std::string>& texts,
                     const EncodeOptions& options, const RowLengths& lengths, const std::string& where) {
  const std::vector<std::string>& pairs = options.text_pairs;
  const bool adds = options.add_special_tokens && pipeline.post_processor;
  check_rows(texts, options, adds ? pipeline.post_processor->added(!pairs.empty()) : 0, where);
  TruncationOptions truncation = lengths.truncation != nullptr ? *lengths.truncation : TruncationOptions();
  if (options.max_length != 0) truncation.max_length = options.max_length;
  const bool cuts = lengths.truncation != nullptr || options.max_length != 0;
  PaddingOptions padding = lengths.padding != nullptr ? *lengths.padding : PaddingOptions();
  if (options.padding == "max_length") padding.length = options.max_length;
  std::vector<TokenizedText> rows;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    try {
      rows.push_back(pipeline.encode(texts[i], pairs.empty() ? nullptr : &pairs[i], options.add_special_tokens,
                                     cuts ? &truncation : nullptr));
    } catch (...) {
      rethrow_with(fmt::format("{} text {}: ", where, i));
    }
    rows.back().overflowing.clear();
    longest = std::max(longest, static_cast<std::int64_t>(rows.back().ids.size()));
  }
  const std::int64_t length = std::max(longest, padded_length(longest, padding));
  const Shape shape{static_cast<std::int64_t>(rows.size()), length};
  Encoding out{Tensor(shape, DType::int64), Tensor(shape, DType::int64), Tensor(shape, DType::int64)};
  auto* ids = out.input_ids.mutable_data<std::int64_t>();
  auto* mask = out.attention_mask.mutable_data<std::int64_t>();
  auto* types = out.token_type_ids.mutable_data<std::int64_t>();
  for (TokenizedText& row : rows) {
    const auto own = static_cast<std::int64_t>(row.ids.size());
    if (own < length && lengths.padding == nullptr) {
      fail<ValueError>(where, "rows of {} and {} tokens need padding; enable_padding() sets its id", own, length);
    }
    pad_text(row, length, padding);
    ids = std::copy(row.ids.begin(), row.ids.end(), ids);
    mask = std::copy(row.attention_mask.begin(), row.attention_mask.end(), mask);
    types = std::copy(row.type_ids.begin(), row.type_ids.end(), types);
  }
  return out;
}

}  // namespace mezzo::detail
