#include <mezzo/data/text/text_vectorization.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/index_lookup.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo {
namespace {

const char* const vectorization = "[TextVectorization]";

StringLookupOptions lookup_options(const TextVectorizationOptions& options) {
  const auto check_step = [](const char* option, const auto& step, const std::vector<std::string>& valid) {
    if (step.none() || step.function() || std::find(valid.begin(), valid.end(), step.name()) != valid.end()) return;
    fail_unknown(vectorization, option, step.name(), valid);
  };
  check_step("standardize", options.standardize, {"lower", "lower_and_strip_punctuation", "strip_punctuation"});
  check_step("split", options.split, {"character", "whitespace"});
  for (const std::int64_t length : options.ngrams) {
    if (length < 1) fail<ValueError>(vectorization, "ngrams must be at least 1; got {}", length);
  }
  if (!options.ngrams.empty() && options.split.none()) {
    fail<ValueError>(vectorization, "ngrams must be left out without split");
  }
  if (options.output_sequence_length) {
    if (options.output_mode != "int") {
      fail<ValueError>(vectorization, "output_sequence_length must be left out for output_mode \"{}\"",
                       options.output_mode);
    }
    if (*options.output_sequence_length < 0) {
      fail<ValueError>(vectorization, "output_sequence_length must not be negative; got {}",
                       *options.output_sequence_length);
    }
  }
  StringLookupOptions lookup;
  lookup.max_tokens = options.max_tokens;
  lookup.mask_token = "";
  lookup.vocabulary = options.vocabulary;
  lookup.idf_weights = options.idf_weights;
  lookup.output_mode = options.output_mode;
  lookup.pad_to_max_tokens = options.pad_to_max_tokens;
  return lookup;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

std::string standardized(const std::string& text, const detail::TextStep<std::string>& step) {
  if (step.function()) return step.function()(text);
  if (step.none()) return text;
  const bool lower = step.name() != "strip_punctuation", strip = step.name() != "lower";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (strip && is_ascii_punctuation(c)) continue;
    out += lower && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::vector<std::string> split_text(const std::string& text, const detail::TextStep<std::vector<std::string>>& step) {
  if (step.function()) return step.function()(text);
  std::vector<std::string> parts;
  if (step.name() == "character") {
    for (const char32_t c : detail::decode_utf8(text)) detail::append_utf8(parts.emplace_back(), c);
    return parts;
  }
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = begin;
    while (end < text.size() && !is_space(text[end])) ++end;
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> ngrams_of(std::vector<std::string> tokens, const std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) return tokens;
  std::vector<std::string> all;
  for (const std::int64_t length : lengths) {
    const auto count = static_cast<std::size_t>(length);
    for (std::size_t i = 0; i + count <= tokens.size(); ++i) {
      std::string& gram = all.emplace_back(tokens[i]);
      for (std::size_t k = 1; k < count; ++k) gram += " " + tokens[i + k];
    }
  }
  return all;
}

/// Rows of tokens, padded by the mask "", which the lookup maps to 0 or drops.
Strings padded_rows(const std::vector<std::vector<std::string>>& rows, std::int64_t length) {
  std::vector<std::string> all;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) all.push_back(i < row.size() ? row[i] : "");
  }
  return {{static_cast<std::int64_t>(rows.size()), length}, std::move(all)};
}

}  // namespace

TextVectorization::TextVectorization(TextVectorizationOptions options)
    : options_(std::move(options)), lookup_(lookup_options(options_), vectorization) {}

std::vector<std::string> TextVectorization::tokens(const std::string& text) const {
  const std::string standard = standardized(text, options_.standardize);
  return ngrams_of(options_.split.none() ? std::vector<std::string>{standard} : split_text(standard, options_.split),
                   options_.ngrams);
}

void TextVectorization::adapt(const Strings& texts) {
  std::vector<std::vector<std::string>> rows;
  std::size_t longest = 0;
  for (const std::string& text : texts.values()) {
    rows.push_back(tokens(text));
    longest = std::max(longest, rows.back().size());
  }
  lookup_.adapt(padded_rows(rows, static_cast<std::int64_t>(longest)));
}

void TextVectorization::adapt(const TextDataset& texts) { adapt(texts.texts()); }

void TextVectorization::set_vocabulary(const std::vector<std::string>& vocabulary,
                                       const std::vector<double>& idf_weights) {
  lookup_.set_vocabulary(vocabulary, idf_weights);
}

std::vector<std::string> TextVectorization::get_vocabulary(bool include_special_tokens) const {
  return lookup_.get_vocabulary(include_special_tokens);
}

std::int64_t TextVectorization::vocabulary_size() const { return lookup_.vocabulary_size(); }

Tensor TextVectorization::operator()(const Strings& texts) const {
  const Shape& shape = texts.shape();
  const bool split = !options_.split.none();
  if (split && shape.size() > 1 && (shape.size() > 2 || shape.back() != 1)) {
    fail<ShapeError>(vectorization, "texts to split must have shape (count,) or (count, 1); got shape {}", shape);
  }
  // Rows of tokens: of each text, or, without split, of the last axis.
  std::vector<std::vector<std::string>> rows;
  if (split) {
    for (const std::string& text : texts.values()) rows.push_back(tokens(text));
  } else {
    const std::int64_t width = shape.empty() ? 1 : std::max<std::int64_t>(1, shape.back());
    for (std::int64_t i = 0; i < texts.size(); ++i) {
      if (i % width == 0) rows.emplace_back();
      rows.back().push_back(standardized(texts[i], options_.standardize));
    }
  }
  std::size_t longest = 0;
  for (const std::vector<std::string>& row : rows) longest = std::max(longest, row.size());
  const bool is_int = options_.output_mode == "int";
  const bool one_hot = options_.output_mode == "one_hot";
  const std::int64_t length = options_.output_sequence_length.value_or(static_cast<std::int64_t>(longest));
  const Tensor out = lookup_(padded_rows(rows, length));
  if (!is_int && !one_hot) {
    // (rows, size): without the axis of rows for one text, or one list of tokens.
    const bool one = shape.empty() || (!split && shape.size() == 1);
    return one ? out.reshape({out.shape().back()}) : out;
  }
  Shape result;
  if (split) {
    if (!shape.empty()) result.push_back(shape[0]);
    result.push_back(length);
  } else {
    result = shape;
    if (!result.empty() && is_int) result.back() = length;
  }
  if (one_hot) result.push_back(lookup_.vocabulary_size());
  if (one_hot && options_.pad_to_max_tokens) result.back() = *options_.max_tokens;
  return out.reshape(result);
}

}  // namespace mezzo
