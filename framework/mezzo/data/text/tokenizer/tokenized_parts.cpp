#include <mezzo/data/text/tokenizer/tokenized_parts.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* parts_label = "[Tokenizer]";
constexpr std::size_t most_overflowing_tokens = std::size_t{1} << 22U;
constexpr std::int64_t most_padding = std::int64_t{1} << 24U;

/// Calls use(list) for each list of the lists of two texts.
template <class Use>
void for_each_list(TokenizedText& to, const TokenizedText& from, Use&& use) {
  use(to.ids, from.ids);
  use(to.type_ids, from.type_ids);
  use(to.tokens, from.tokens);
  use(to.offsets, from.offsets);
  use(to.word_ids, from.word_ids);
  use(to.special_tokens_mask, from.special_tokens_mask);
  use(to.attention_mask, from.attention_mask);
}

/// Tokens [begin, end) without overflowing parts.
TokenizedText slice_of(const TokenizedText& text, std::size_t begin, std::size_t end) {
  TokenizedText out;
  for_each_list(out, text, [&](auto& to, const auto& from) {
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin), from.begin() + static_cast<std::ptrdiff_t>(end));
  });
  return out;
}

void append_lists(TokenizedText& text, const TokenizedText& more) {
  for_each_list(text, more, [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); });
}

void check_overflowing(std::size_t parts, std::size_t tokens) {
  if (parts == 0 || tokens == 0 || parts <= most_overflowing_tokens / tokens) return;
  fail<ValueError>(parts_label, "the overflowing parts must have at most {} tokens; got {} parts of {} tokens",
                   most_overflowing_tokens, parts, tokens);
}

void truncate(TokenizedText& text, std::int64_t most, std::int64_t stride, bool left) {
  const std::size_t count = text.ids.size();
  const auto length = static_cast<std::size_t>(most);
  if (length >= count) return;
  if (length == 0) {
    TokenizedText all = std::move(text);
    text = {};
    text.overflowing.push_back(std::move(all));
    return;
  }
  if (stride >= most) {
    fail<ValueError>(parts_label, "stride must be less than the {} tokens that remain of max_length; got {}", most,
                     stride);
  }
  const std::size_t step = length - static_cast<std::size_t>(stride);
  check_overflowing((count - length) / step + 1, length);
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t i = 0; parts.empty() || (left ? parts.back().first > 0 : parts.back().second < count); ++i) {
    const std::size_t end = left ? count - i * step : std::min(i * step + length, count);
    parts.emplace_back(left ? end - std::min(end, length) : i * step, end);
  }
  TokenizedText kept = slice_of(text, parts[0].first, parts[0].second);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    kept.overflowing.push_back(slice_of(text, parts[i].first, parts[i].second));
  }
  text = std::move(kept);
}

/// Lengths of two texts that together have `most` tokens: the longer one is cut first, then both to equal lengths.
std::pair<std::int64_t, std::int64_t> longest_first(std::int64_t first, std::int64_t second, std::int64_t most) {
  const bool swapped = first > second;
  std::int64_t shorter = std::min(first, second);
  std::int64_t longer = shorter > most ? shorter : std::max(shorter, most - shorter);
  if (shorter + longer > most) {
    shorter = most / 2;
    longer = shorter + most % 2;
  }
  return swapped ? std::pair{longer, shorter} : std::pair{shorter, longer};
}

void check_side(const std::string& direction, const std::string& where) {
  if (direction != "right" && direction != "left") {
    fail<ValueError>(where, "unknown direction \"{}\"; valid names: right, left", direction);
  }
}

}  // namespace

void append_token(TokenizedText& text, std::int64_t id, std::string token,
                  std::pair<std::int64_t, std::int64_t> offsets, std::int64_t word, std::int64_t type_id) {
  text.ids.push_back(id);
  text.type_ids.push_back(type_id);
  text.tokens.push_back(std::move(token));
  text.offsets.push_back(offsets);
  text.word_ids.push_back(word);
  text.special_tokens_mask.push_back(0);
  text.attention_mask.push_back(1);
}

TokenizedText text_of(const AddedPart& part) {
  TokenizedText out;
  const std::size_t count = part.ids.size();
  out.ids = part.ids;
  out.tokens = part.tokens;
  out.type_ids.assign(count, part.type_id);
  out.offsets.assign(count, {0, 0});
  out.word_ids.assign(count, -1);
  out.special_tokens_mask.assign(count, 1);
  out.attention_mask.assign(count, 1);
  return out;
}

void append_text(TokenizedText& text, const TokenizedText& more) {
  const std::size_t own = text.overflowing.size();
  const std::size_t others = more.overflowing.size();
  check_overflowing(own + others + own * others, text.ids.size() + more.ids.size());
  std::vector<TokenizedText> overflowing;
  const auto add = [&](const TokenizedText& first, const TokenizedText& second) {
    TokenizedText& both = overflowing.emplace_back();
    append_lists(both, first);
    append_lists(both, second);
  };
  for (const TokenizedText& first : text.overflowing) {
    add(first, more);
    for (const TokenizedText& second : more.overflowing) add(first, second);
  }
  for (const TokenizedText& second : more.overflowing) add(text, second);
  append_lists(text, more);
  text.overflowing = std::move(overflowing);
}

void truncate_texts(TokenizedText& first, TokenizedText* second, std::int64_t most, const TruncationOptions& options) {
  const bool left = options.direction == "left";
  const auto count = [](const TokenizedText& text) { return static_cast<std::int64_t>(text.ids.size()); };
  const auto cut = [&](TokenizedText& text, std::int64_t length) { truncate(text, length, options.stride, left); };
  if (most == 0) {
    cut(first, 0);
    if (second != nullptr) cut(*second, 0);
    return;
  }
  const std::int64_t excess = count(first) + (second != nullptr ? count(*second) : 0) - most;
  if (excess <= 0) return;
  if (options.strategy == "longest_first") {
    if (second == nullptr) return cut(first, most);
    const auto [one, other] = longest_first(count(first), count(*second), most);
    cut(first, one);
    cut(*second, other);
    return;
  }
  if (options.strategy == "only_second" && second == nullptr) {
    fail<ValueError>(parts_label, "the truncation strategy \"only_second\" needs a text_pair; got none");
  }
  TokenizedText& target = options.strategy == "only_first" ? first : *second;
  if (count(target) <= excess) {
    fail<ValueError>(parts_label, "the truncation strategy \"{}\" must leave a token; got {} tokens to cut of {}",
                     options.strategy, excess, count(target));
  }
  cut(target, count(target) - excess);
}

std::int64_t padded_length(std::int64_t longest, const PaddingOptions& options) {
  const std::int64_t length = options.length.value_or(longest);
  const std::int64_t multiple = options.pad_to_multiple_of.value_or(1);
  return (length + multiple - 1) / multiple * multiple;
}

void pad_text(TokenizedText& text, std::int64_t length, const PaddingOptions& options) {
  for (TokenizedText& part : text.overflowing) pad_text(part, length, options);
  const auto own = static_cast<std::int64_t>(text.ids.size());
  if (own >= length) return;
  const auto count = static_cast<std::size_t>(length - own);
  AddedPart part;
  part.ids.assign(count, options.pad_id);
  part.tokens.assign(count, options.pad_token);
  part.type_id = options.pad_type_id;
  TokenizedText padding = text_of(part);
  padding.attention_mask.assign(count, 0);
  if (options.direction == "right") return append_lists(text, padding);
  append_lists(padding, text);
  padding.overflowing = std::move(text.overflowing);
  text = std::move(padding);
}

void check_truncation(const TruncationOptions& options, const std::string& where) {
  check_side(options.direction, where);
  if (options.max_length < 0) fail<ValueError>(where, "max_length must be 0 or more; got {}", options.max_length);
  if (options.stride < 0) fail<ValueError>(where, "stride must be 0 or more; got {}", options.stride);
  const auto& name = options.strategy;
  if (name != "longest_first" && name != "only_first" && name != "only_second") {
    fail<ValueError>(where, "unknown strategy \"{}\"; valid names: longest_first, only_first, only_second", name);
  }
}

void check_padding(const PaddingOptions& options, const std::string& where) {
  check_side(options.direction, where);
  if (options.pad_id < 0) fail<ValueError>(where, "pad_id must be 0 or more; got {}", options.pad_id);
  if (options.length && (*options.length < 0 || *options.length > most_padding)) {
    fail<ValueError>(where, "length must lie in [0, {}]; got {}", most_padding, *options.length);
  }
  const auto multiple = options.pad_to_multiple_of;
  if (multiple && (*multiple < 1 || *multiple > most_padding)) {
    fail<ValueError>(where, "pad_to_multiple_of must lie in [1, {}]; got {}", most_padding, *multiple);
  }
}

}  // namespace mezzo::detail
